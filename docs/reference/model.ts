/** What the reference says, before it is a page. */
export type EntryKind = 'construct' | 'class' | 'enum' | 'interface' | 'function' | 'type';

export interface Reference {
  readonly entries: readonly Entry[];
  /** Types of ours that public members name and that users cannot import. */
  readonly hidden: readonly string[];
}

/** One exported name. */
export interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
  readonly words: string;
  readonly throws: readonly string[];
  /** Of a construct: the name of its props. */
  readonly props?: string;
  readonly constructorThrows?: readonly string[];
  /** Of a type alias: what it stands for. */
  readonly written?: string;
  readonly fields: readonly Field[];
  readonly methods: readonly Method[];
  /** Static methods: imports and factories. */
  readonly statics: readonly Method[];
  readonly constants: readonly Field[];
}

export interface Field {
  readonly name: string;
  /** As the source writes it, in the words of the CDK. Of an enum's value: the value. */
  readonly type: string;
  readonly optional: boolean;
  readonly words: string;
  /** What `@default` says: `- words`, or a literal. */
  readonly default?: string;
}

export interface Method {
  readonly name: string;
  readonly signature: string;
  /** The types of its parameters. */
  readonly takes: string;
  readonly words: string;
  /** What `@param` says, as `name words`. */
  readonly parameters: readonly string[];
  readonly throws: readonly string[];
}

/** Names of the interfaces that users fill in (props, what a static method is given), not those that they get. */
export function givenNames({ entries }: Reference): ReadonlySet<string> {
  const parameters = entries.flatMap(({ statics, methods }) => [...statics, ...methods].map(({ takes }) => takes));
  const taken = new Set([...entries.map(({ props }) => props ?? ''), ...parameters].join(' ').match(/\w+/g));
  return new Set(entries.map(({ name }) => name).filter((name) => taken.has(name) && !/^I[A-Z]/.test(name)));
}

/** What is missing from the docstrings, as `BillingStreamProps.streamName: …`. */
export function gaps(reference: Reference): string[] {
  const given = givenNames(reference);
  /** Shown with their construct, which says what it is. */
  const props = new Set(reference.entries.map((entry) => entry.props));
  const hidden = reference.hidden.map((name) => `${name}: named in public, and not exported`);
  const unsaid = reference.entries.flatMap((entry) => {
    const members = [...entry.fields, ...entry.constants, ...entry.methods, ...entry.statics];
    const named = entry.kind === 'function' ? [] : members.filter(({ words }) => words === '');
    const silent = given.has(entry.name) ? entry.fields.filter((field) => field.optional && !field.default) : [];
    return [
      ...(entry.words === '' && !props.has(entry.name) ? [`${entry.name}: no docstring`] : []),
      ...named.map(({ name }) => `${entry.name}.${name}: no docstring`),
      ...silent.map(({ name }) => `${entry.name}.${name}: optional, and no @default`),
    ];
  });
  return [...hidden, ...unsaid];
}
