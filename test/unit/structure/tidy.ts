/** Small files, small functions, no leftovers, nothing dead. */
import ts from 'typescript';
import { allImports, lineOf, type Sources, walk } from './sources';

export const MAX_FILE_LINES = 500;
export const MAX_FUNCTION_LINES = 70;

/** Written in two halves, so that this file does not find itself. */
const LEFTOVER = new RegExp(`\\b(${['TO', 'FIX'].join('DO|')}ME)\\b`);

const isTest = (path: string) => path.endsWith('.test.ts');

/** Files that are too long, as `file has n lines`. */
export function longFiles(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => !path.includes('/generated/'))
    .map(([path, text]) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MAX_FILE_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines`);
}

/** Functions that are too long, as `file:line has n lines`. The body of a `describe` is a list, not a function. */
export function longFunctions(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, text] of sources) {
    walk(path, text, (node, file) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
      if (isTest(path) && isDescribe(node)) return;
      const lines = file.getLineAndCharacterOfPosition(node.end).line + 2 - lineOf(node, file);
      if (lines > MAX_FUNCTION_LINES) found.push(`${path}:${lineOf(node, file)} has ${lines} lines`);
    });
  }
  return found;
}

function isDescribe(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.expression.getText());
}

/** Marks of work that was not finished, as `file:line`. */
export function leftovers(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => (LEFTOVER.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}

/**
 * Files that nothing needs: what is shipped must be reached by what is shipped, helpers of tests by anything.
 * Entry points are named; one that does not exist is an error as well.
 */
export function deadFiles(sources: Sources, entryPoints: readonly string[]): string[] {
  const alive = new Set(entryPoints);
  for (const { from, target } of allImports(sources)) {
    if (target !== undefined && (from.startsWith('test/') ? target.startsWith('test/') : true)) alive.add(target);
  }
  const dead = [...sources.keys()].filter((path) => !isTest(path) && !alive.has(path));
  const gone = entryPoints.filter((path) => !sources.has(path));
  return [...dead.map((path) => `nothing imports ${path}`), ...gone.map((path) => `there is no entry point ${path}`)];
}
