/** Names that both sides share come from the contract: a name typed twice is a name that drifts. */
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, METRICS, METRICS_BY_LABEL } from '../../../runtime/contract';
import { lineOf, readSources, type Sources, sourcesOf, walk } from './sources';

const SHARED = new Set<string>([
  ...Object.keys(ENVIRONMENT),
  ...[...Object.values(METRICS), ...Object.values(METRICS_BY_LABEL)].map(({ emf }) => emf),
]);

/** Every place where a construct spells a shared name itself, as `file:line spells x`. */
function spelled(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, text] of sources) {
    if (!path.startsWith('constructs/')) continue;
    walk(path, text, (node, file) => {
      const isText = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
      const isKey = ts.isIdentifier(node) && ts.isPropertyAssignment(node.parent) && node.parent.name === node;
      if ((isText || isKey) && SHARED.has(node.text)) found.push(`${path}:${lineOf(node, file)} spells ${node.text}`);
    });
  }
  return found;
}

describe('names that both sides share', { timeout: 60_000 }, () => {
  it('are never spelled by a construct', () => {
    expect(spelled(readSources())).toEqual([]);
  });

  it.each(["const e = { SOURCE: 'kinesis' };", "const e = { ['SOURCE']: 1 };", 'e[`SOURCE`] = 1;'])(
    'are caught in %s',
    (text) => {
      expect(spelled(sourcesOf({ 'constructs/aws/a.ts': text }))).toEqual(['constructs/aws/a.ts:1 spells SOURCE']);
    },
  );

  it('may be read from the contract', () => {
    const text = "const e = { [ENVIRONMENT.SOURCE]: 'kinesis' };";
    expect(spelled(sourcesOf({ 'constructs/aws/a.ts': text }))).toEqual([]);
  });
});
