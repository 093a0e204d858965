/**
 * Stand-ins for docker, finch and podman: real programs on a PATH of their own that write down what they are told and
 * answer as the engine does. What each prints is taken from its documentation and sources; none of them builds anything.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type FakeKind = 'docker' | 'finch' | 'podman';

export interface FakeBehaviour {
  /** Of each command, by its first words. Absent: 0. */
  readonly exit?: Readonly<Record<string, number>>;
  /** In place of what a command does and prints. */
  readonly says?: Readonly<Record<string, string>>;
  /** Names that `image inspect` lists with their digest. Absent: none. */
  readonly repoDigests?: readonly string[];
  /** A command that never ends. */
  readonly hangs?: string;
}

export const DIGEST = `sha256:${'d1'.repeat(32)}`;
export const ID = `sha256:${'1d'.repeat(32)}`;
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** How each engine pushes: where the digest stands, and what it fails without. */
const PUSH: Readonly<Record<FakeKind, string>> = {
  docker: `printf 'The push refers to repository [x]\\n1.0: digest: ${DIGEST} size: 740\\n'`,
  podman: `[ "$2" = --digestfile ] && printf %s ${DIGEST} > "$3"`,
  finch: `[ "$2" = --platform ] || exit 18
    printf 'time="now" level=info msg="pushing as a reduced-platform image (${MANIFEST}, ${DIGEST})"\\n' >&2`,
};

function program(kind: FakeKind, { exit = {}, says = {}, repoDigests = [], hangs }: FakeBehaviour): string {
  const inspected = JSON.stringify([{ Id: kind === 'podman' ? ID.slice(7) : ID, RepoDigests: repoDigests }]);
  const wrong = new Set([...Object.keys(exit), ...Object.keys(says)]);
  const cases = [...wrong].map((words) => {
    const said = says[words] === undefined ? '' : `printf %s ${quoted(says[words])} >&2; `;
    return `  ${quoted(`${words} `)}*) ${said}exit ${exit[words] ?? 0};;`;
  });
  return `#!/bin/sh
printf '%s\\t%s\\t%s\\n' ${kind} "$BUILDX_NO_DEFAULT_ATTESTATIONS" "$*" >> "\${0%/*}/calls"
for last; do :; done
case "$* " in
${hangs === undefined ? '' : `  ${quoted(`${hangs} `)}*) exec /bin/sleep 600;;`}
${cases.join('\n')}
  'build '*|'buildx build '*)
    [ -f "$last/Dockerfile" ] && [ -f "$last/chargeonce.js" ] || exit 17
    printf '#1 [1/2] FROM docker.io/library/node\\n' >&2;;
  'push '*) ${PUSH[kind]};;
  'image inspect '*)
    ${kind === 'finch' ? '[ "$3" = --platform ] || exit 19' : ''}
    printf '%s\\n' ${quoted(inspected)};;
  *) printf '${kind} version 1.2.3\\n';;
esac
`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export interface Call {
  readonly kind: string;
  readonly args: string;
  /** BUILDX_NO_DEFAULT_ATTESTATIONS as the engine saw it. */
  readonly attestations: string;
}

/** A folder to be PATH. */
export class FakeEngines {
  constructor(readonly path: string) {
    mkdirSync(path, { recursive: true });
  }

  install(kind: FakeKind, behaviour: FakeBehaviour = {}): this {
    writeFileSync(join(this.path, kind), program(kind, behaviour), { mode: 0o755 });
    return this;
  }

  calls(): Call[] {
    const file = join(this.path, 'calls');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.map((line) => {
      const [kind = '', attestations = '', args = ''] = line.split('\t');
      return { kind, attestations, args };
    });
  }

  /** The commands that do something, as they were typed. */
  commands(): string[] {
    const asks = /^(--version|version|info|buildx version)$/;
    return this.calls().flatMap(({ kind, args }) => (asks.test(args) ? [] : [`${kind} ${args}`]));
  }
}
