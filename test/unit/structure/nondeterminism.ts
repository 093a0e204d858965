/** Where chance comes in: the clock, timers, randomness, signals and the environment, found in the syntax tree. */
import ts from 'typescript';
import { lineOf, type Sources, walk } from './sources';

/** Tools that run at build time, not in the worker. */
const TOOLS = /^runtime\/(image\/build|ledger\/generate)\.ts$/;
const TIMERS = new Set(['setTimeout', 'setInterval', 'setImmediate']);
const RANDOM = new Set(['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues']);
const SIGNAL_CALLS = new Set(['on', 'once', 'addListener', 'kill', 'exit', 'abort', 'hrtime', 'uptime']);

/** Every use outside the rooms that own it, as `file:line uses x`. */
export function nondeterminism(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, text] of sources) {
    if (!path.startsWith('runtime/') || path.startsWith('runtime/host/') || TOOLS.test(path)) continue;
    walk(path, text, (node, file) => {
      const use = chance(node);
      if (use === undefined || (use === 'process.env' && path.startsWith('runtime/config/'))) return;
      found.push(`${path}:${lineOf(node, file)} uses ${use}`);
    });
  }
  return found;
}

function chance(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    return member(node.expression.text, node.name.text);
  }
  if (ts.isNewExpression(node) && isNamed(node.expression, 'Date')) {
    return (node.arguments?.length ?? 0) === 0 ? 'new Date()' : undefined;
  }
  if (ts.isCallExpression(node) && isNamed(node.expression, 'Date')) return 'Date()';
  if (ts.isIdentifier(node) && TIMERS.has(node.text) && !isDeclaredName(node)) return node.text;
  if (ts.isIdentifier(node) && RANDOM.has(node.text)) return node.text;
  if (ts.isStringLiteral(node) && /^(node:)?timers(\/promises)?$/.test(node.text)) return node.text;
  return undefined;
}

function member(object: string, name: string): string | undefined {
  const whole = `${object}.${name}`;
  if (['Date.now', 'Math.random', 'AbortSignal.timeout', 'process.env'].includes(whole)) return whole;
  if (object === 'performance') return whole;
  if (object === 'process' && SIGNAL_CALLS.has(name)) return whole;
  return undefined;
}

const isNamed = (node: ts.Node, name: string) => ts.isIdentifier(node) && node.text === name;

/** `x.setTimeout` and `{ setTimeout: … }` are names of somebody’s members, not the global. */
function isDeclaredName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    ts.isPropertySignature(parent) ||
    ts.isMethodDeclaration(parent)
  );
}
