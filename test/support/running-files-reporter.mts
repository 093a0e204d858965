/** Tells the test entry which files are running, as marker lines that it takes out of the output. */
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { ENDED, STARTED } from './running-files.js';

export default class RunningFilesReporter implements Reporter {
  onTestModuleStart(module: TestModule): void {
    process.stdout.write(`${STARTED}${relative(process.cwd(), module.moduleId)}\n`);
  }

  onTestModuleEnd(module: TestModule): void {
    process.stdout.write(`${ENDED}${relative(process.cwd(), module.moduleId)}\n`);
  }
}
