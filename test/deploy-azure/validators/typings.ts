/**
 * Inputs against the typings of `@pulumi/azure-native`, made from the very schema of the provider of that version:
 * names, required ones, types, and, where `tsc` takes any text, the values of enums.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { JavaScriptValue } from 'google-protobuf/google/protobuf/struct_pb';
import ts from 'typescript';
import type { Props } from '../grpc';
import type { Problem } from '../provider/rules';
import { text, UNKNOWN } from '../provider/values';
import { trueValues } from './confused-enums';

const load = createRequire(__filename);

type Members = ReadonlyMap<string, { readonly type: ts.TypeNode; readonly optional: boolean }>;

export class Typings {
  private readonly root = dirname(load.resolve('@pulumi/azure-native/package.json'));
  private readonly inputs = readFileSync(join(this.root, 'types/input.d.ts'), 'utf8');
  private readonly modules = new Map<string, ReadonlyMap<string, Members>>();
  private readonly resources = new Map<string, Members | undefined>();

  /** Of the SDK. */
  readonly version = (load('@pulumi/azure-native/package.json') as { readonly version: string }).version;

  /** Everything wrong with the inputs of a resource. */
  problems(token: string, inputs: Readonly<Props>): readonly Problem[] {
    if (!this.resources.has(token)) this.resources.set(token, this.readResource(token));
    const members = this.resources.get(token);
    if (members === undefined)
      return [{ property: '', reason: `${token} is not in @pulumi/azure-native ${this.version}` }];
    return this.object(members, inputs, '');
  }

  private object(members: Members, value: JavaScriptValue, path: string): Problem[] {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong(path, 'an object', value);
    const found: Problem[] = [];
    const object = value as Props;
    const inner = (name: string) => (path === '' ? name : `${path}.${name}`);
    for (const [name, { optional }] of members) {
      if (!optional && (object[name] ?? null) === null)
        found.push({ property: inner(name), reason: `${inner(name)} is missing` });
    }
    for (const [name, each] of Object.entries(object)) {
      const member = members.get(name);
      if (member === undefined) found.push({ property: inner(name), reason: `there is no property ${inner(name)}` });
      else if ((each ?? null) !== null) found.push(...this.value(member.type, each, inner(name)));
    }
    return found;
  }

  private value(type: ts.TypeNode, value: JavaScriptValue, path: string): Problem[] {
    if (value === UNKNOWN) return [];
    if (ts.isParenthesizedTypeNode(type)) return this.value(type.type, value, path);
    if (ts.isUnionTypeNode(type)) return this.union(type, value, path);
    if (ts.isTypeReferenceNode(type)) return this.reference(type, value, path);
    if (ts.isArrayTypeNode(type)) {
      if (!Array.isArray(value)) return wrong(path, 'a list', value);
      return value.flatMap((each, index) => this.value(type.elementType, each, `${path}[${index}]`));
    }
    if (ts.isTypeLiteralNode(type)) {
      const [member] = type.members;
      if (member === undefined || !ts.isIndexSignatureDeclaration(member)) return [];
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong(path, 'a map', value);
      return Object.entries(value as Props).flatMap(([name, each]) => this.value(member.type, each, `${path}.${name}`));
    }
    if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) {
      return type.literal.text === value ? [] : wrong(path, type.literal.text, value);
    }
    return primitive(type, value, path);
  }

  /** The alternative that fits best. Text beside an enum means "values of later versions", of which we send none. */
  private union(type: ts.UnionTypeNode, value: JavaScriptValue, path: string): Problem[] {
    const some = type.types.filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword);
    const hasEnum = some.some((each) => ts.isTypeReferenceNode(each) && nameOf(each.typeName).startsWith('enums.'));
    const alternatives = hasEnum ? some.filter(({ kind }) => kind !== ts.SyntaxKind.StringKeyword) : some;
    const [best] = alternatives.map((each) => this.value(each, value, path)).sort((a, b) => a.length - b.length);
    return best ?? [];
  }

  private reference(type: ts.TypeReferenceNode, value: JavaScriptValue, path: string): Problem[] {
    const name = nameOf(type.typeName);
    const [argument] = type.typeArguments ?? [];
    if (name === 'pulumi.Input' && argument !== undefined) return this.value(argument, value, path);
    const [kind, module = '', last = ''] = name.split('.');
    if (kind === 'enums') {
      const enums = load(join(this.root, 'types/enums', module)) as Record<string, Record<string, JavaScriptValue>>;
      const values: readonly JavaScriptValue[] =
        trueValues(`${module}.${last}`, path) ?? Object.values(enums[last] ?? {});
      return values.length === 0 || values.includes(value) ? [] : wrong(path, `one of ${values.join(', ')}`, value);
    }
    const members = kind === 'inputs' ? this.module(module).get(last) : undefined;
    if (members === undefined)
      throw new Error(`The typings of @pulumi/azure-native ${this.version} have no ${name} (${path}).`);
    return this.object(members, value, path);
  }

  /** The interfaces of one module, of 8 MB of them. */
  private module(name: string): ReadonlyMap<string, Members> {
    const known = this.modules.get(name);
    if (known !== undefined) return known;
    const start = this.inputs.indexOf(`\nexport declare namespace ${name} {`);
    const end = this.inputs.indexOf('\nexport declare namespace ', start + 1);
    const found = new Map<string, Members>();
    if (start >= 0) {
      const source = parse(this.inputs.slice(start, end < 0 ? undefined : end));
      for (const statement of source.statements) {
        if (!ts.isModuleDeclaration(statement) || statement.body === undefined || !ts.isModuleBlock(statement.body))
          continue;
        for (const each of statement.body.statements)
          if (ts.isInterfaceDeclaration(each)) found.set(each.name.text, membersOf(each));
      }
    }
    this.modules.set(name, found);
    return found;
  }

  private readResource(token: string): Members | undefined {
    const [, module = '', name = ''] = token.split(':');
    const file = join(this.root, module, `${name.charAt(0).toLowerCase()}${name.slice(1)}.d.ts`);
    if (!existsSync(file)) return undefined;
    const isArgs = (each: ts.Statement): each is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(each) && each.name.text === `${name}Args`;
    const declaration = parse(readFileSync(file, 'utf8')).statements.find(isArgs);
    return declaration && membersOf(declaration);
  }
}

const parse = (source: string) => ts.createSourceFile('typings.d.ts', source, ts.ScriptTarget.Latest);

function membersOf(declaration: ts.InterfaceDeclaration): Members {
  const members = new Map<string, { type: ts.TypeNode; optional: boolean }>();
  for (const member of declaration.members) {
    if (!ts.isPropertySignature(member) || member.type === undefined) continue;
    if (ts.isIdentifier(member.name) || ts.isStringLiteral(member.name)) {
      members.set(member.name.text, { type: member.type, optional: member.questionToken !== undefined });
    }
  }
  return members;
}

function nameOf(name: ts.EntityName): string {
  return ts.isQualifiedName(name) ? `${nameOf(name.left)}.${name.right.text}` : name.text;
}

function primitive(type: ts.TypeNode, value: JavaScriptValue, path: string): Problem[] {
  const wanted = {
    [ts.SyntaxKind.StringKeyword]: 'string',
    [ts.SyntaxKind.NumberKeyword]: 'number',
    [ts.SyntaxKind.BooleanKeyword]: 'boolean',
  };
  const want = (wanted as Record<number, string>)[type.kind];
  return want === undefined || typeof value === want ? [] : wrong(path, `a ${want}`, value);
}

function wrong(property: string, must: string, value: JavaScriptValue): Problem[] {
  return [{ property, reason: `${property} is ${text(value)}; it must be ${must}` }];
}
