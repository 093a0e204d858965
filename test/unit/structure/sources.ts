/** The sources as data: a map from path to text, so that a rule can be tried on planted files too. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '../../..');
const FOLDERS = ['constructs', 'runtime', 'stacks', 'test', 'bench', 'docs'];

/** Text by path, relative to the repository. */
export type Sources = ReadonlyMap<string, string>;

export interface Import {
  readonly from: string;
  readonly specifier: string;
  /** The file it means, when that is one of the sources. */
  readonly target?: string;
}

/** All TypeScript of the repository. */
export function readSources(): Sources {
  const files = FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const sources = files.filter((file) => /\.m?ts$/.test(file) && !file.includes('node_modules')).sort();
  return new Map(sources.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
}

export const sourcesOf = (files: Readonly<Record<string, string>>): Sources => new Map(Object.entries(files));

/** Every import of a file: static, of types, dynamic and by require. */
export function importsOf(sources: Sources, from: string): Import[] {
  const { importedFiles } = ts.preProcessFile(sources.get(from) ?? '', true, true);
  return importedFiles.map(({ fileName: specifier }) => {
    const target = specifier.startsWith('.') ? resolve(sources, from, specifier) : undefined;
    return { from, specifier, ...(target === undefined ? {} : { target }) };
  });
}

export function allImports(sources: Sources): Import[] {
  return [...sources.keys()].flatMap((file) => importsOf(sources, file));
}

function resolve(sources: Sources, from: string, specifier: string): string | undefined {
  const path = normalize(join(dirname(from), specifier)).replace(/\.js$/, '');
  return [path, `${path}.ts`, `${path}.mts`, `${path}/index.ts`].find((file) => sources.has(file));
}

/** The package a specifier names; nothing for relative ones and for Node's own modules. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Calls back for each node of a file, in order. */
export function walk(path: string, text: string, visit: (node: ts.Node, file: ts.SourceFile) => void): void {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const each = (node: ts.Node): void => {
    visit(node, file);
    ts.forEachChild(node, each);
  };
  each(file);
}

export const lineOf = (node: ts.Node, file: ts.SourceFile): number =>
  file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
