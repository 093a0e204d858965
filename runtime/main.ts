#!/usr/bin/env node
/** Entry of the process: the command line on the real world. */
import { redactSecrets } from './config';
import { exitNow, keepHeapSmall, quietSdkAdvice, systemHost, systemShell } from './host';
import { runCli } from './ops/cli';
import { verbs } from './ops/verbs';
import { packageVersion } from './ops/version';

keepHeapSmall();
quietSdkAdvice();
const shell = systemShell();
runCli({ shell, host: systemHost, verbs: verbs(), version: packageVersion() }).then(exitNow, (error: unknown) => {
  shell.err(`chargeonce: ${redactSecrets(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
  exitNow(2);
});
