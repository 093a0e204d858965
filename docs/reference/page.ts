/** The reference as one page of Markdown. */
import { type Entry, type EntryKind, type Field, givenNames, type Method, type Reference } from './model';
import { table } from './table';

/** Whose page it is, and the words in which its cloud speaks. */
export interface ReferenceStyle {
  readonly title: string;
  /** The module that is described. */
  readonly module: string;
  /** The page, in `docs/`. */
  readonly page: string;
  readonly head: string;
  /** What its constructs are called, as a heading. */
  readonly nouns: string;
  /** What their inputs are called. */
  readonly inputs: string;
  /** When wrong ones are refused. */
  readonly refusedAt: string;
}

export const REFERENCES: Readonly<Record<'aws' | 'azure', ReferenceStyle>> = {
  aws: {
    title: 'Constructs',
    module: 'constructs/aws/index.ts',
    page: 'constructs.md',
    head: `What \`chargeonce/aws\` exports. This page is made from the docstrings of the sources by \`npm run gen:docs\`.

Props that say "required" must be given. Types are those of the CDK: \`ec2.IVpc\` is \`IVpc\` of \`aws-cdk-lib/aws-ec2\`,
\`secrets\` is \`aws-cdk-lib/aws-secretsmanager\`, \`logs\`, \`ecs\`, \`iam\`, \`kms\`, \`rds\`, \`kinesis\`, \`dynamodb\` and
\`cloudwatch\` are named likewise. A wrong prop fails at synth, with the value received, the values allowed and the way
out.`,
    nouns: 'Constructs',
    inputs: 'Props',
    refusedAt: 'synth',
  },
  azure: {
    title: 'Components',
    module: 'constructs/azure/index.ts',
    page: 'components.md',
    head: `What \`chargeonce/azure\` exports. This page is made from the docstrings of the sources by \`npm run gen:docs\`.

Arguments that say "required" must be given. \`pulumi.Input<string>\` is a text or an output of one; what is a plain type
decides the shape of the program and is checked at once. \`eventhub\`, \`storage\`, \`app\`, \`dbforpostgresql\`, \`monitor\`,
\`managedidentity\`, \`authorization\` and \`applicationinsights\` are modules of \`@pulumi/azure-native\`. A wrong argument
fails at preview, with the value received, the values allowed and the way out; what only becomes known in a deploy (an
output) is refused there.`,
    nouns: 'Components',
    inputs: 'Arguments',
    refusedAt: 'preview',
  },
};

/** Headings, in the order of the page. */
const kindsOf = ({ nouns }: ReferenceStyle): readonly (readonly [string, readonly EntryKind[]])[] => [
  [nouns, ['construct']],
  ['Choices', ['class', 'enum']],
  ['Functions', ['function']],
  ['Interfaces', ['interface', 'type']],
];

/** The text of the page. */
export function referencePage(reference: Reference, style: ReferenceStyle): string {
  const page = new Page(reference, style);
  const kinds = kindsOf(style);
  const groups = kinds.map(([title, of]) => ({ title, of: page.sections(of) })).filter(({ of }) => of.length > 0);
  const contents = groups.map(({ title, of }) => {
    const links = of.map(({ name }) => `[${name}](#${name.toLowerCase()})`);
    return `- ${title}: ${links.join(' · ')}`;
  });
  const sections = groups.flatMap(({ of }) => of.map((entry) => page.section(entry)));
  return `${[`# ${style.title}\n`, `${style.head}\n`, `${contents.join('\n')}\n`, ...sections].join('\n').trimEnd()}\n`;
}

class Page {
  private readonly byName: ReadonlyMap<string, Entry>;
  /** Props are shown with their construct. */
  private readonly shown: ReadonlySet<string>;

  private readonly entries: readonly Entry[];
  private readonly given: ReadonlySet<string>;

  constructor(
    reference: Reference,
    private readonly style: ReferenceStyle,
  ) {
    this.entries = reference.entries;
    this.given = givenNames(reference);
    this.byName = new Map(this.entries.map((entry) => [entry.name, entry]));
    this.shown = new Set(this.entries.flatMap(({ props }) => (props === undefined ? [] : [props])));
  }

  sections(kinds: readonly EntryKind[]): Entry[] {
    return this.entries.filter(({ kind, name }) => kinds.includes(kind) && !this.shown.has(name));
  }

  section(entry: Entry): string {
    const props = entry.props === undefined ? undefined : this.byName.get(entry.props);
    const gives = entry.kind === 'enum' ? 'Values' : entry.kind === 'interface' ? 'Fields' : 'Members';
    const throws = [...entry.throws, ...(entry.constructorThrows ?? [])];
    return [
      `## ${entry.name}\n`,
      `${entry.words}\n`,
      ...(entry.written === undefined ? [] : [`\`${entry.written}\`\n`]),
      ...this.fields(props ? `${this.style.inputs} (\`${props.name}\`)` : '', props?.fields ?? [], true),
      ...this.fields(gives, entry.fields, this.given.has(entry.name), entry.kind === 'enum'),
      ...this.fields('Constants', entry.constants, false),
      ...(entry.kind === 'function' ? entry.methods.map(({ signature }) => `\`${signature}\`\n`) : []),
      ...this.methods('Methods', entry.kind === 'function' ? [] : entry.methods),
      ...this.methods('Static methods', entry.statics),
      ...(throws.length === 0 ? [] : [`**Errors at ${this.style.refusedAt}**: ${throws.join('; ')}.\n`]),
    ].join('\n');
  }

  /** A table of fields; with what happens without them where users give them. */
  private fields(title: string, fields: readonly Field[], given: boolean, isEnum = false): string[] {
    if (fields.length === 0) return [];
    const ordered = given ? [...fields].sort((a, b) => Number(a.optional) - Number(b.optional)) : fields;
    const rows = ordered.map((field) => {
      const name = `\`${field.name}${field.optional && !given ? '?' : ''}\``;
      const type = isEnum ? code(field.type) : this.type(field.type);
      return given ? [name, type, absent(field), cell(field.words)] : [name, type, cell(field.words)];
    });
    const kind = isEnum ? 'value' : 'type';
    const head = given ? ['name', kind, 'without it', 'meaning'] : ['name', kind, 'meaning'];
    return [`**${title}**\n`, `${table(head, rows)}\n`];
  }

  private methods(title: string, methods: readonly Method[]): string[] {
    if (methods.length === 0) return [];
    const rows = methods.map(({ signature, words, parameters, throws }) => {
      const more = [
        ...parameters.map((each) => each.replace(/^(\S+)\s+(?:- )?/, '`$1`: ')),
        ...throws.map((each) => `Throws ${each}`),
      ];
      return [code(signature), cell([words, ...more].filter((each) => each !== '').join('\n\n'))];
    });
    return [`**${title}**\n`, `${table(['method', 'meaning'], rows)}\n`];
  }

  private type(written: string): string {
    const own = /^(\w+)$/.exec(written)?.[1];
    const target = own === undefined ? undefined : this.byName.get(own);
    return target ? `[${code(written)}](#${target.name.toLowerCase()})` : code(written);
  }
}

function absent(field: Field): string {
  if (!field.optional) return 'required';
  const words = field.default ?? '';
  const inWords = /^-|`|^(none|nobody)\b/.test(words) || /^[A-Za-z]+ /.test(words);
  return inWords ? cell(words.replace(/^-\s*/, '')) : code(words);
}

/** A pipe would end the cell, in code as well. */
const code = (words: string) => (words === '' ? '' : `\`${words.replaceAll('|', '\\|')}\``);
const cell = (words: string) =>
  words
    .replaceAll('|', '\\|')
    .replace(/\n{2,}/g, '<br>')
    .replace(/\n/g, ' ');
