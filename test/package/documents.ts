/** What the documents say, as data: code blocks that can be compiled, tables that can be compared. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { OPTIONS } from '../../docs/reference/read';

const ROOT = join(__dirname, '../..');

/** Text by path of every document that users read. */
export function documents(): ReadonlyMap<string, string> {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
  const files = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs].filter((file) => file.endsWith('.md'));
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
}

export interface Block {
  /** `README.md:12`, where the block begins. */
  readonly at: string;
  readonly code: string;
}

/** Fenced blocks of a language. */
export function codeBlocks(path: string, text: string, language: string): Block[] {
  const blocks: Block[] = [];
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  for (const match of text.matchAll(fence)) {
    const line = text.slice(0, match.index).split('\n').length;
    blocks.push({ at: `${path}:${line}`, code: match[1]! });
  }
  return blocks;
}

/** What a user's project has beside a block: a test runner's globals, and the package under its own name. */
const GLOBALS = `
declare function test(name: string, run: () => void): void;
declare function expect(value: unknown): { toMatchSnapshot(): void; toBe(other: unknown): void };
`;
const SUBPATHS = {
  chargeonce: 'runtime/contract/index.ts',
  'chargeonce/aws': 'constructs/aws/index.ts',
  'chargeonce/azure': 'constructs/azure/index.ts',
  'chargeonce/azure/policy': 'constructs/azure/policy/index.ts',
  'chargeonce/runtime': 'runtime/index.ts',
  'chargeonce/runtime/event-hubs': 'runtime/event-hubs.ts',
  'chargeonce/runtime/kinesis': 'runtime/kinesis.ts',
  'chargeonce/testing': 'test/emulators/index.ts',
};

/** Type-checks each block as a module of its own, as strictly as `cdk init` does. Answers every error with its place. */
export function compileBlocks(blocks: readonly Block[]): string[] {
  const options: ts.CompilerOptions = {
    ...OPTIONS,
    paths: Object.fromEntries(Object.entries(SUBPATHS).map(([name, file]) => [name, [join(ROOT, file)]])),
  };
  const nameOf = (index: number) => join(ROOT, `block-${index}.ts`);
  const virtual = new Map(blocks.map(({ code }, index) => [nameOf(index), code]));
  virtual.set(join(ROOT, 'globals.d.ts'), GLOBALS);

  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => virtual.has(file) || fileExists(file);
  host.readFile = (file) => virtual.get(file) ?? readFile(file);
  host.getSourceFile = (file, ...rest) => {
    const text = virtual.get(file);
    return text === undefined ? getSourceFile(file, ...rest) : ts.createSourceFile(file, text, rest[0]);
  };

  const program = ts.createProgram([...virtual.keys()], options, host);
  return blocks.flatMap(({ at }, index) => {
    const file = program.getSourceFile(nameOf(index))!;
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ start, messageText }) => {
      const line = ts.getLineAndCharacterOfPosition(file, start ?? 0).line + 1;
      return `${at} +${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
  });
}

/** First cells of a table under a heading: the words in backticks there. */
export function tableNames(text: string, heading: string): string[] {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`there is no heading ${heading}`);
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
}
