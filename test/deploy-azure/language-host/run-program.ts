/** A program's run: its flags, its configuration in the environment, and what its exit code means. */
import { type RunRequest, RunResponse } from '@pulumi/pulumi/proto/language_pb';
import { type Children, optionsOf, sdkScript } from './children';

/** The runner's exit code after it has told the user what was wrong. */
const ALREADY_SAID = 32;

export async function runProgram(request: RunRequest, engine: string, children: Children): Promise<RunResponse> {
  const info = request.getInfo();
  if (info === undefined) return new RunResponse().setError('The engine names no program.');
  const directory = info.getProgramDirectory();
  const options = optionsOf(info);
  const flags = {
    monitor: request.getMonitorAddress(),
    engine,
    organization: request.getOrganization(),
    project: request.getProject(),
    'root-directory': info.getRootDirectory(),
    stack: request.getStack(),
    pwd: directory,
    parallel: String(request.getParallel()),
  };
  const args = [
    ...options.nodeargs,
    sdkScript(directory, 'run'),
    ...Object.entries(flags).flatMap(([flag, value]) => (value === '' ? [] : [`--${flag}`, value])),
    ...(request.getDryrun() ? ['--dry-run'] : []),
    info.getEntryPoint(),
    ...request.getArgsList(),
  ];
  const { code, signal } = await children.start(args, directory, {
    ...options.environment,
    PULUMI_CONFIG: JSON.stringify(configuration(request)),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
  }).ended;
  if (code === 0) return new RunResponse();
  if (code === ALREADY_SAID) return new RunResponse().setBail(true);
  return new RunResponse().setError(`The program ended with ${code ?? signal}.`);
}

/** `project:key` as the runner reads it. */
function configuration(request: RunRequest): Record<string, string> {
  const entries: [string, string][] = [];
  request.getConfigMap().forEach((value, key) => {
    entries.push([key.replace(/:(?!config:)/, ':config:'), value]);
  });
  return Object.fromEntries(entries);
}
