/** Runs a document's code block as a user's file: what compiles may still throw at synth. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import * as aws from '../../constructs/aws';
import * as contract from '../../runtime/contract';
import * as testing from '../emulators';

const OURS: Readonly<Record<string, unknown>> = {
  chargeonce: contract,
  'chargeonce/aws': aws,
  'chargeonce/testing': testing,
};

/** Throws what the block throws; `test` runs at once, and a snapshot is always new. */
export function runBlock(code: string): void {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true },
  });
  const load = createRequire(join(__dirname, 'block.js'));
  const require = (name: string): unknown => OURS[name] ?? load(name);
  const test = (_name: string, run: () => void): void => run();
  const expect = () => ({ toMatchSnapshot: () => undefined, toBe: () => undefined });
  new Function('require', 'exports', 'test', 'expect', outputText)(require, {}, test, expect);
}
