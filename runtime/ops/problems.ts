/** Shows what is wrong with the environment: everything at once. */
import type { Shell } from '../host';
import type { ExitCode } from './verb';

export function refuseConfig(shell: Shell, problems: readonly string[], warnings: readonly string[]): ExitCode {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  shell.err(
    [
      `chargeonce: the configuration has ${count}:`,
      ...problems.map((problem) => `  - ${problem}`),
      ...(warnings.length === 0 ? [] : ['Also noticed:', ...warnings.map((warning) => `  - ${warning}`)]),
      '',
    ].join('\n'),
  );
  return 2;
}
