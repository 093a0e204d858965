/** The public surface of a module as data, read from the sources and their docstrings. */
import { join, relative } from 'node:path';
import ts from 'typescript';
import type { Entry, EntryKind, Field, Method, Reference } from './model';

const ROOT = join(__dirname, '../..');
/** As a user's project compiles what it imports from here. */
export const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.Node16,
  moduleResolution: ts.ModuleResolutionKind.Node16,
  esModuleInterop: true,
  types: ['node'],
};

/** What the constructs of each cloud are made of, and how their inputs are named. */
const BASES = ['Construct', 'ComponentResource'];
const INPUTS = /^\w+(Props|Args)$/;

/**
 * Reads a module and everything it exports.
 *
 * @param file the module, absolute or relative to the repository
 * @param overlay texts that stand for files, so that a rule can be tried on planted ones
 */
export function readReference(file: string, overlay: ReadonlyMap<string, string> = new Map()): Reference {
  const path = join(ROOT, relative(ROOT, file));
  const program = ts.createProgram([path], OPTIONS, hostOf(overlay));
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${file} is no module`);
  const reader = new Reader(checker);
  const entries = checker.getExportsOfModule(module).map((exported) => reader.entry(exported));
  const exported = new Set(entries.map(({ name }) => name));
  return {
    entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)),
    hidden: [...reader.named].filter((name) => !exported.has(name)).sort(),
  };
}

function hostOf(overlay: ReadonlyMap<string, string>): ts.CompilerHost {
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => overlay.has(name) || fileExists(name);
  host.readFile = (name) => overlay.get(name) ?? readFile(name);
  host.getSourceFile = (name, ...rest) => {
    const text = overlay.get(name);
    return text === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, text, rest[0]);
  };
  return host;
}

class Reader {
  /** Our types that public members name. */
  readonly named = new Set<string>();

  constructor(private readonly checker: ts.TypeChecker) {}

  entry(exported: ts.Symbol): Entry {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(exported) : exported;
    const declaration = symbol.declarations?.[0];
    if (!declaration) throw new Error(`${exported.name} has no declaration`);
    const common = { name: exported.name, words: this.words(symbol), throws: this.throwsOf(symbol) };
    if (ts.isClassDeclaration(declaration)) return { ...common, ...this.classOf(symbol, declaration) };
    if (ts.isEnumDeclaration(declaration)) {
      const values = this.own(this.checker.getExportsOfModule(symbol)).map((value) => this.field(value));
      return { ...common, kind: 'enum', fields: values, methods: [], statics: [], constants: [] };
    }
    if (ts.isFunctionDeclaration(declaration)) {
      return { ...common, kind: 'function', fields: [], methods: [this.method(symbol)], statics: [], constants: [] };
    }
    if (ts.isTypeAliasDeclaration(declaration)) {
      const type = this.checker.getDeclaredTypeOfSymbol(symbol);
      const values = type.isUnion() ? type.types.map((each) => this.checker.typeToString(each)).join(' | ') : undefined;
      const written = values ?? text(declaration.type);
      return { ...common, kind: 'type', written, fields: [], methods: [], statics: [], constants: [] };
    }
    const members = this.own(this.checker.getPropertiesOfType(this.checker.getDeclaredTypeOfSymbol(symbol)));
    return { ...common, kind: 'interface', ...this.split(members), statics: [], constants: [] };
  }

  private classOf(symbol: ts.Symbol, declaration: ts.ClassDeclaration): Omit<Entry, 'name' | 'words' | 'throws'> {
    const instance = this.split(
      this.own(this.checker.getPropertiesOfType(this.checker.getDeclaredTypeOfSymbol(symbol))),
    );
    const statics = this.split(this.own(this.checker.getPropertiesOfType(this.checker.getTypeOfSymbol(symbol))));
    const made = declaration.members.find(ts.isConstructorDeclaration);
    const props = made?.parameters.map(({ type }) => (type ? text(type) : '')).find((type) => INPUTS.test(type));
    const kind: EntryKind = this.isConstruct(this.checker.getDeclaredTypeOfSymbol(symbol)) ? 'construct' : 'class';
    const extra = made ? jsDocThrows(ts.getJSDocTags(made)) : [];
    return {
      kind,
      // Constructs that are made by others, as an ops task is, have no props that a user could give.
      ...(kind === 'construct' && props !== undefined ? { props } : {}),
      ...(extra.length > 0 ? { constructorThrows: extra } : {}),
      ...instance,
      statics: statics.methods,
      constants: statics.fields,
    };
  }

  private isConstruct(type: ts.Type): boolean {
    const bases = type.getBaseTypes() ?? [];
    return bases.some((base) => BASES.includes(base.symbol.name) || this.isConstruct(base));
  }

  /** What a user can see and what we wrote: neither private members nor what a construct inherits. */
  private own(symbols: readonly ts.Symbol[]): ts.Symbol[] {
    return symbols.filter((symbol) => {
      const declaration = symbol.declarations?.[0];
      if (!declaration || declaration.getSourceFile().fileName.includes('node_modules')) return false;
      const name = ts.getNameOfDeclaration(declaration);
      if (name && ts.isPrivateIdentifier(name)) return false;
      const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
      if (ts.getCombinedModifierFlags(declaration) & hidden) return false;
      return !symbol.getJsDocTags().some((tag) => tag.name === 'internal');
    });
  }

  private split(symbols: readonly ts.Symbol[]): { fields: Field[]; methods: Method[] } {
    const isMethod = (symbol: ts.Symbol) => (symbol.flags & ts.SymbolFlags.Method) !== 0;
    return {
      fields: symbols.filter((each) => !isMethod(each)).map((each) => this.field(each)),
      methods: symbols.filter(isMethod).map((each) => this.method(each)),
    };
  }

  private field(symbol: ts.Symbol): Field {
    const declaration = symbol.declarations![0]!;
    const typed = declaration as ts.PropertyDeclaration | ts.PropertySignature;
    this.note(typed.type);
    const fallback = symbol.getJsDocTags(this.checker).find((tag) => tag.name === 'default');
    return {
      name: symbol.name,
      type: ts.isEnumMember(declaration)
        ? text(declaration.initializer ?? declaration.name)
        : typed.type
          ? text(typed.type)
          : this.checker.typeToString(this.checker.getTypeOfSymbolAtLocation(symbol, declaration)),
      optional: (symbol.flags & ts.SymbolFlags.Optional) !== 0,
      words: this.words(symbol),
      ...(fallback === undefined ? {} : { default: ts.displayPartsToString(fallback.text) }),
    };
  }

  private method(symbol: ts.Symbol): Method {
    const declaration = symbol.declarations![0] as ts.MethodDeclaration;
    const tags = symbol.getJsDocTags(this.checker);
    for (const node of [declaration.type, ...declaration.parameters.map(({ type }) => type)]) this.note(node);
    const result = declaration.type ? `: ${text(declaration.type)}` : '';
    const generic = declaration.typeParameters ? `<${declaration.typeParameters.map(text).join(', ')}>` : '';
    return {
      name: symbol.name,
      signature: `${symbol.name}${generic}(${declaration.parameters.map(text).join(', ')})${result}`,
      takes: declaration.parameters.map(({ type }) => (type ? text(type) : '')).join(' '),
      words: this.words(symbol),
      parameters: tags.filter((tag) => tag.name === 'param').map((tag) => ts.displayPartsToString(tag.text)),
      throws: this.throwsOf(symbol),
    };
  }

  /** Remembers which types of ours a written type names. */
  private note(node: ts.Node | undefined): void {
    if (node === undefined) return;
    if (ts.isTypeReferenceNode(node)) {
      const symbol = this.checker.getSymbolAtLocation(node.typeName);
      const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
      const file = target?.declarations?.[0]?.getSourceFile().fileName;
      const isParameter = target !== undefined && (target.flags & ts.SymbolFlags.TypeParameter) !== 0;
      if (target && file !== undefined && !file.includes('node_modules') && !isParameter) this.named.add(target.name);
    }
    node.forEachChild((child) => this.note(child));
  }

  private words(symbol: ts.Symbol): string {
    return plain(ts.displayPartsToString(symbol.getDocumentationComment(this.checker)));
  }

  private throwsOf(symbol: ts.Symbol): string[] {
    const tags = symbol.getJsDocTags(this.checker).filter((tag) => tag.name === 'throws');
    return tags.map((tag) => plain(ts.displayPartsToString(tag.text)));
  }
}

function jsDocThrows(tags: readonly ts.JSDocTag[]): string[] {
  return tags
    .filter((tag) => tag.tagName.text === 'throws')
    .map((tag) => plain(ts.getTextOfJSDocComment(tag.comment) ?? ''));
}

const text = (node: ts.Node): string => node.getText().replace(/\s+/g, ' ');

/** `{@link X}` is X; the rest is Markdown already. */
const plain = (words: string): string => words.replace(/\{@link\s+([^}]+)\}/g, '`$1`').trim();
