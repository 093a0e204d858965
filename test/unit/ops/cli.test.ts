import { describe, expect, test } from 'vitest';
import { systemHost } from '../../../runtime/host';
import { runCli } from '../../../runtime/ops/cli';
import type { Verb } from '../../../runtime/ops/verb';
import { verbs as realVerbs } from '../../../runtime/ops/verbs';
import { fakeShell } from './fake-shell';

const greet: Verb = {
  name: 'greet',
  summary: 'say hello',
  help: 'greet <name> [--loud]',
  options: { loud: { type: 'boolean' } },
  positionals: { min: 1, max: 1 },
  async run({ shell, values, positionals }) {
    shell.out(`hello ${positionals[0]}${values.loud === true ? '!' : ''}\n`);
    return 0;
  },
};
const lacking = (error: Error): Verb => ({
  ...greet,
  name: 'lacking',
  run: () => Promise.reject(error),
});

async function cli(args: string[], verbs: readonly Verb[] = [greet]) {
  const { shell, written } = fakeShell(args);
  const code = await runCli({ shell, host: systemHost, verbs, version: '1.2.3' });
  return { code, ...written };
}

describe('the command line', () => {
  test('runs a verb with its options and arguments', async () => {
    expect(await cli(['greet', 'Ada', '--loud'])).toEqual({ code: 0, out: 'hello Ada!\n', err: '' });
  });

  test.each([['--help'], ['-h'], ['help']])('%s lists the verbs', async (word) => {
    const { code, out } = await cli([word]);
    expect(code).toBe(0);
    expect(out).toContain('greet  say hello');
  });

  test.each([[['greet', '--help']], [['greet', '-h']], [['help', 'greet']]])(
    '%j tells what the verb does',
    async (args) => {
      expect(await cli(args)).toEqual({ code: 0, out: 'greet <name> [--loud]\n', err: '' });
    },
  );

  test('without a verb it lists them on stderr and fails', async () => {
    const { code, out, err } = await cli([]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('greet');
  });

  test('says its version', async () => {
    expect(await cli(['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
  });

  test.each([
    [['great'], 'Did you mean greet?'],
    [['something'], 'Verbs: greet.'],
    [['greet', '--lod', 'x'], 'Did you mean --loud?'],
    [['greet', '--loud=yes', 'x'], "'--loud' does not take an argument"],
    [['greet'], 'received 0 arguments, expected 1'],
    [['greet', 'a', 'b'], 'received 2 arguments, expected 1'],
  ])('%j is refused with 2: %s', async (args, words) => {
    const { code, out, err } = await cli(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(words);
  });

  test('a package that is not installed is a sentence', async () => {
    const missing = Object.assign(new Error("Cannot find module '@aws-sdk/client-kinesis'\nRequire stack:\n- x"), {
      code: 'MODULE_NOT_FOUND',
    });
    const { code, err } = await cli(['lacking', 'x'], [lacking(missing)]);
    expect(code).toBe(2);
    expect(err).toBe(
      'chargeonce lacking: needs the package @aws-sdk/client-kinesis, which is not installed. Run: npm install @aws-sdk/client-kinesis\n',
    );
  });

  test('any other error is not swallowed, nor is a missing file of ours taken for a package', async () => {
    await expect(cli(['lacking', 'x'], [lacking(new Error('boom'))])).rejects.toThrow('boom');
    const ours = Object.assign(new Error("Cannot find module './gone'"), { code: 'MODULE_NOT_FOUND' });
    await expect(cli(['lacking', 'x'], [lacking(ours)])).rejects.toThrow('./gone');
  });

  test('secrets in arguments are not repeated', async () => {
    expect((await cli(['sk_live_51abcdef'])).err).not.toContain('51abcdef');
  });
});

describe('the verbs that exist', () => {
  test('have a summary, help that names every option, and distinct names', async () => {
    const verbs = realVerbs();
    expect(verbs.map((verb) => verb.name)).toEqual(['consume', 'migrate', 'publish', 'reconcile', 'size', 'image']);
    for (const verb of verbs) {
      expect(verb.help).toContain(`chargeonce ${verb.name}`);
      for (const option of Object.keys(verb.options)) expect(verb.help).toContain(`--${option}`);
    }
  });

  test.each(['consume', 'migrate'])(
    '%s without configuration says all that is missing and fails with 2',
    async (name) => {
      const { code, out, err } = await cli([name], realVerbs());
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain('DATABASE_URL: received nothing');
    },
  );

  test.each([
    [['publish', '-'], 'received no --stream'],
    [['publish', '-', '--stream', 's', '--rate', '1e3'], '--rate: received 1e3'],
    [['publish', '-', '--stream', 's', '--max-record-bytes', '99999999'], '--max-record-bytes'],
    [['publish', '-', '--stream', 's', '--endpoint-url', 'here'], '--endpoint-url: received here'],
  ])('%j is refused with 2', async (args, words) => {
    const { code, err } = await cli(args, realVerbs());
    expect(code).toBe(2);
    expect(err).toContain(words);
  });
});
