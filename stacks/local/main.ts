/** `npm start`: the whole journey on this machine, with a verdict. Exit 0 pass, 1 fail, 2 could not run. */
import { exitNow, quietSdkAdvice } from '../../runtime/host';
import { HELP, readFlags } from './flags';
import { type Report, reportTable } from './report';
import { run } from './run';
import { Screen } from './screen';

async function main(): Promise<number> {
  quietSdkAdvice();
  // The oldest supported aws-cdk-lib warns of its own deprecated code at every table.
  process.env.JSII_DEPRECATED ??= 'quiet';
  const read = readFlags(process.argv.slice(2));
  if ('help' in read) {
    process.stdout.write(`${HELP}\n`);
    return 0;
  }
  if ('problems' in read) {
    process.stderr.write(`${read.problems.join('\n')}\n\n${HELP}\n`);
    return 2;
  }
  const { flags } = read;
  const screen = new Screen(flags.json ? process.stderr : process.stdout);
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  const onReport = (report: Report) => {
    screen.plain(reportTable(report));
    if (flags.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  };
  const report = await run({ flags, screen, signal: controller.signal, onReport });
  return report.verdict === 'pass' ? 0 : 1;
}

/** What an interrupted run had begun ends with the process. */
main()
  .catch((error: unknown) => {
    process.stderr.write(`Could not run: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  })
  .then(exitNow);
