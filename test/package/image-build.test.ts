/** `chargeonce image build` with stand-ins for the three engines; no engine runs here, so nothing is really built. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wrongImage } from '../../constructs/azure/consumer/image-reference';
import manifest from '../../package.json';
import { systemHost } from '../../runtime/host';
import { buildImages } from '../../runtime/image/build';
import { runCli } from '../../runtime/ops/cli';
import { findEngine } from '../../runtime/ops/image/image-engine';
import { imageFolder } from '../../runtime/ops/image-folder';
import { verbs } from '../../runtime/ops/verbs';
import { fakeShell } from '../unit/ops/fake-shell';
import { DIGEST, FakeEngines, type FakeKind, ID } from './fake-engine';

const ROOT = join(__dirname, '..', '..');
const FOLDER = join(ROOT, 'dist', 'runtime', 'image', 'kinesis');
const REPO = 'registry.example.com/billing/chargeonce';
const ECR = '123456789012.dkr.ecr.eu-west-1.amazonaws.com/billing';
const { version } = manifest;

const scratch = mkdtempSync(join(tmpdir(), 'chargeonce-engines-'));
let folders = 0;
const engines = () => new FakeEngines(join(scratch, String(++folders)));
let cli = '';
beforeAll(async () => {
  cli = (await buildImages()).find(({ name }) => name === 'cli')?.file ?? '';
}, 60_000);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function image(on: FakeEngines, args: readonly string[], env: Record<string, string> = {}) {
  const { shell, written } = fakeShell(['image', 'build', ...args], { PATH: on.path, ...env });
  const code = await runCli({ shell, host: systemHost, verbs: verbs(), version });
  return { code, ...written };
}

/** What each engine is told: the same, but for what each of them needs. */
const PUSHED: Readonly<Record<FakeKind, readonly string[]>> = {
  docker: [
    `docker buildx build --load --platform linux/arm64 --tag ${REPO}:${version} ${FOLDER}`,
    `docker push ${REPO}:${version}`,
    `docker image inspect ${REPO}:${version}`,
  ],
  finch: [
    `finch build --platform linux/arm64 --tag ${REPO}:${version} ${FOLDER}`,
    `finch push --platform linux/arm64 ${REPO}:${version}`,
    `finch image inspect --platform linux/arm64 ${REPO}:${version}`,
  ],
  podman: [
    `podman build --platform linux/arm64 --tag ${REPO}:${version} ${FOLDER}`,
    `podman push --digestfile FILE ${REPO}:${version}`,
    `podman image inspect ${REPO}:${version}`,
  ],
};

describe.each(['docker', 'finch', 'podman'] as const)('with %s', (kind) => {
  test('builds, pushes, and prints the digest alone on stdout', async () => {
    const on = engines().install(kind);
    const { code, out, err } = await image(on, ['--push', REPO]);
    expect([code, out], err).toEqual([0, `${REPO}@${DIGEST}\n`]);
    expect(on.commands().map((each) => each.replace(/(--digestfile) \S+/, '$1 FILE'))).toEqual(PUSHED[kind]);
    expect(err).toContain('[1/2] FROM');
    expect(err).toContain(`image: ecs.ContainerImage.fromRegistry('${REPO}@${DIGEST}')`);
    expect(on.calls().at(-1)?.attestations).toBe('1');
  });

  test('without --push prints the id, and how to push', async () => {
    const on = engines().install(kind);
    const { code, out, err } = await image(on, ['--tag', 'v2', '--platform', 'linux/amd64']);
    expect([code, out], err).toEqual([0, `${ID}\n`]);
    expect(err).toContain(
      'Built chargeonce:v2 for linux/amd64, not pushed. To deploy it: chargeonce image build --push',
    );
    expect(on.commands().filter((each) => each.includes(' push '))).toEqual([]);
  });

  test('says what failed, and prints no digest', async () => {
    const build = { build: 3, 'buildx build': 3 };
    const failed = await image(engines().install(kind, { exit: build, says: { build: 'no space\n' } }), []);
    expect([failed.code, failed.out]).toEqual([2, '']);
    expect(failed.err).toMatch(new RegExp(`${kind} build ended with 3: it failed to build`));
    const denied = engines().install(kind, { exit: { push: 1 }, says: { push: 'denied: not authorized\n' } });
    const refused = await image(denied, ['--push', ECR]);
    expect([refused.code, refused.out]).toEqual([2, '']);
    expect(refused.err).toContain('denied: not authorized');
    expect(refused.err).toContain(
      `aws ecr get-login-password --region eu-west-1 | ${kind} login --username AWS --password-stdin ${ECR.split('/')[0]}`,
    );
  });

  test('that does not answer is refused with how to start it', async () => {
    const exit = { version: 1, info: 125 };
    const on = engines().install(kind, { exit, says: { version: 'Cannot connect\n', info: 'Cannot connect\n' } });
    const { code, out, err } = await image(on, ['--push', REPO]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`${kind} is installed but does not answer (Cannot connect); `);
    expect(err).toMatch(/start/);
    expect(on.commands()).toEqual([]);
  });
});

describe('for Azure', () => {
  const ACR = 'contoso.azurecr.io/chargeonce';
  const HUBS = join(FOLDER, '..', 'event-hubs');

  test.each([
    ['contoso', ACR],
    ['Contoso.azurecr.io', ACR],
    ['contoso.azurecr.cn', 'contoso.azurecr.cn/chargeonce'],
  ])('--acr %s pushes the image of event-hubs there, for what Container Apps run', async (name, repository) => {
    const on = engines().install('docker');
    const { code, out, err } = await image(on, ['--acr', name]);
    expect([code, out], err).toEqual([0, `${repository}@${DIGEST}\n`]);
    expect(on.commands().slice(0, 2)).toEqual([
      `docker buildx build --load --platform linux/amd64 --tag ${repository}:${version} ${HUBS}`,
      `docker push ${repository}:${version}`,
    ]);
    expect(err).toContain(`In the args of the component:\n  image: '${repository}@${DIGEST}',\n`);
    expect(err).not.toContain('WARNING');
    // What the component takes.
    expect(wrongImage(out.trim())).toBeUndefined();
  });

  test('an image for another platform is built, with a warning', async () => {
    const { code, err } = await image(engines().install('docker'), ['--acr', 'contoso', '--platform', 'linux/arm64']);
    expect(code).toBe(0);
    expect(err).toContain('WARNING: Azure Container Apps run linux/amd64, not linux/arm64.');
  });

  test('an image that is not pushed says how it would be', async () => {
    const { err } = await image(engines().install('docker'), ['--source', 'event-hubs']);
    expect(err).toContain('Built chargeonce:');
    expect(err).toContain('for linux/amd64, not pushed. To deploy it: chargeonce image build --acr <registry>');
  });

  test.each([
    ['docker', 'az acr login --name contoso, as one who may AcrPush'],
    ['podman', '--expose-token --query accessToken --output tsv | podman login --username 00000000-'],
    ['finch', '| finch login --username 00000000-0000-0000-0000-000000000000 --password-stdin contoso.azurecr.io'],
  ] as const)('a push that %s is refused says how to log in', async (kind, words) => {
    const denied = engines().install(kind, { exit: { push: 1 }, says: { push: 'denied\n' } });
    const { code, err } = await image(denied, ['--acr', 'contoso']);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });
});

describe('the digest', () => {
  const silent = { says: { push: '' } };

  test('is read from the image when the push does not say it', async () => {
    const repoDigests = [`other/name@sha256:${'e'.repeat(64)}`, `${REPO}@${DIGEST}`];
    const { out } = await image(engines().install('docker', { ...silent, repoDigests }), ['--push', REPO]);
    expect(out).toBe(`${REPO}@${DIGEST}\n`);
  });

  test.each([
    ['none', []],
    ['two', [`${REPO}@${DIGEST}`, `${REPO}@${ID}`]],
    ['that of another repository', [`other/name@${DIGEST}`]],
  ])('is refused when the engine knows %s', async (_, repoDigests) => {
    const { code, out, err } = await image(engines().install('docker', { ...silent, repoDigests }), ['--push', REPO]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('was pushed, but docker does not say under which digest');
  });

  test('is refused when the file of podman stays away', async () => {
    const { code, err } = await image(engines().install('podman', silent), ['--push', REPO]);
    expect(code).toBe(2);
    expect(err).toContain('was pushed, but podman does not say under which digest');
  });
});

describe('the engine', () => {
  test('is the first one on PATH: docker, finch, podman', async () => {
    const on = engines().install('podman').install('finch');
    await image(on, []);
    expect(on.calls()[0]?.kind).toBe('finch');
    on.install('docker');
    expect(await findEngine(fakeShell([], { PATH: on.path }).shell, undefined)).toMatchObject({ kind: 'docker' });
  });

  test('is what CDK_DOCKER names, by name or by path, unless --engine says another one', async () => {
    const on = engines().install('docker').install('finch').install('podman');
    const podman = join(on.path, 'podman');
    expect((await image(on, ['--json'], { CDK_DOCKER: podman })).out).toContain('"engine":"podman"');
    expect((await image(on, ['--json'], { CDK_DOCKER: 'finch' })).out).toContain('"engine":"finch"');
    expect((await image(on, ['--json', '--engine', 'docker'], { CDK_DOCKER: podman })).out).toContain('"docker"');
  });

  test.each([
    [
      [],
      {},
      'found none of docker, finch, podman on PATH; install one of them, or name it with --engine or CDK_DOCKER',
    ],
    [['--engine', 'podman'], {}, '--engine names podman, which cannot be run: install it'],
    [[], { CDK_DOCKER: '/nowhere/finch' }, 'CDK_DOCKER names /nowhere/finch, which cannot be run'],
    [['--engine', 'buildah'], {}, '--engine: received "buildah"; allowed: docker, finch, podman'],
  ])('that is not there is refused: %j %j', async (args, env, words) => {
    const { code, out, err } = await image(engines(), args, env as Record<string, string>);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(words);
  });

  test('that hangs is not waited for', async () => {
    const on = engines().install('docker', { hangs: 'version' });
    expect(await findEngine(fakeShell([], { PATH: on.path }).shell, undefined, 1_000)).toContain(
      'docker is installed but does not answer (it said nothing for 1 s)',
    );
  });

  test('docker without buildx builds all the same', async () => {
    const on = engines().install('docker', { exit: { buildx: 1 } });
    expect((await image(on, [])).code).toBe(0);
    expect(on.commands()[0]).toBe(`docker build --platform linux/arm64 --tag chargeonce:${version} ${FOLDER}`);
  });
});

describe('what is typed', () => {
  test('--json says everything about the image', async () => {
    const { out } = await image(engines().install('docker'), ['--push', REPO, '--json', '--tag', 'v1']);
    expect(JSON.parse(out)).toEqual({
      image: `${REPO}@${DIGEST}`,
      engine: 'docker',
      platform: 'linux/arm64',
      reference: `${REPO}:v1`,
      id: ID,
      digest: DIGEST,
    });
  });

  test('an image in ECR is given with the grant to pull it, and with its architecture', async () => {
    const { err } = await image(engines().install('docker'), ['--push', ECR, '--platform', 'linux/amd64']);
    expect(err).toContain(
      `ecs.ContainerImage.fromEcrRepository(ecr.Repository.fromRepositoryName(this, 'Image', 'billing'), '${DIGEST}')`,
    );
    expect(err).toContain('cpuArchitecture: ecs.CpuArchitecture.X86_64');
  });

  test.each([
    [['--push', 'repo:v1'], 'the tag is said apart: --push repo --tag v1'],
    [['--push', `repo@${DIGEST}`], 'without a digest'],
    [['--push', 'https://registry.example.com/x'], 'without https://'],
    [['--push', 'Billing/Charges'], 'in small letters'],
    [['--push', 'x; rm -rf /'], '--push: received "x; rm -rf /"; allowed: a repository'],
    [['--push', ''], '--push: received ""'],
    [['--tag', '$(id)'], '--tag: received "$(id)"; allowed: up to 128 letters'],
    [['--platform', 'arm64'], '--platform: received "arm64"; allowed: linux/arm64, linux/amd64'],
    [['--source', 'sqs'], '--source: received "sqs"; allowed: kinesis, event-hubs'],
    [['--acr', 'contoso', '--push', 'x/y'], '--push: received "x/y" beside --acr contoso; say one of them'],
    [['--acr', 'https://contoso.azurecr.io'], '--acr: received "https://contoso.azurecr.io"; allowed: the name'],
    [['--acr', 'a-b'], 'For any other repository use --push'],
    [['--acr', ''], '--acr: received ""'],
  ])('%j is refused before anything runs', async (args, words) => {
    const on = engines().install('docker');
    const { code, out, err } = await image(on, args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(words);
    expect(on.calls()).toEqual([]);
  });

  test.each([
    [[], 'say what to do with it; there is: build'],
    [['push'], 'received "push"; there is: build'],
  ])('image %j says what there is', async (args, words) => {
    const { shell, written } = fakeShell(['image', ...args]);
    expect(await runCli({ shell, host: systemHost, verbs: verbs(), version })).toBe(2);
    expect(written.err).toContain(words);
  });
});

describe('the folder', () => {
  test('is found by the bundled command line', () => {
    const on = engines().install('docker');
    const options = { env: { PATH: on.path }, cwd: on.path, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'image', 'build', '--push', REPO], options);
    expect([status, stdout], stderr).toEqual([0, `${REPO}@${DIGEST}\n`]);
    expect(on.commands()[0]).toContain(FOLDER);
  });

  test.each([['dist/runtime/image/cli'], ['dist/runtime/ops'], ['runtime/ops']])('is found from %s', (here) => {
    expect(imageFolder('kinesis', join(ROOT, here))).toEqual({ folder: FOLDER });
  });

  test('that is not there is said with where to have it', () => {
    expect(imageFolder('kinesis', '/app')).toMatchObject({
      problem: expect.stringContaining('run `npx chargeonce image build` where the package is installed'),
    });
  });
});
