/** The references are what the sources say, and the sources say something of each public thing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { gaps, type Reference } from '../../docs/reference/model';
import { REFERENCES, referencePage } from '../../docs/reference/page';
import { readReference } from '../../docs/reference/read';
import { SECTIONS, withSections } from '../../docs/reference/sections';
import { documents } from './documents';

const ROOT = join(__dirname, '../..');

const OF_EACH = [
  // What they make themselves takes no props of a user's.
  { style: REFERENCES.aws, madeByAnother: ['ManualTask', 'OpsTask'], constructs: 8 },
  { style: REFERENCES.azure, madeByAnother: [], constructs: 6 },
];

describe.each(OF_EACH)('docs/$style.page', ({ style, madeByAnother, constructs }) => {
  let reference: Reference;
  beforeAll(() => {
    reference = readReference(style.module);
  }, 180_000);

  it('is what `npm run gen:docs` writes', () => {
    expect(readFileSync(join(ROOT, 'docs', style.page), 'utf8')).toBe(referencePage(reference, style));
  });

  it('has a docstring for each public name, and a default for what may be left out', () => {
    expect(gaps(reference)).toEqual([]);
  });

  it('has everything with its inputs', () => {
    const found = reference.entries.filter(({ kind }) => kind === 'construct');
    expect(found.length).toBeGreaterThanOrEqual(constructs);
    const named = found.map(({ name, props }) => `${name}: ${props ?? 'made by another'}`);
    expect(named.filter((each) => !/^(\w+): \1(Props|Args)$/.test(each))).toEqual(
      madeByAnother.map((name) => `${name}: made by another`),
    );
  });
});

describe('tables that the code decides', () => {
  const all = documents();

  it.each([...all])('of %s are what `npm run gen:docs` writes', (_, text) => {
    expect(withSections(text)).toBe(text);
  });

  it('are all shown somewhere', () => {
    const shown = [...all.values()].flatMap((text) => [...text.matchAll(/<!-- made: ([a-z ]+) -->/g)].map((m) => m[1]));
    expect(shown.sort()).toEqual(Object.keys(SECTIONS).sort());
  });

  it('would be caught when a figure were changed, and a name when nobody makes it', () => {
    const page = all.get('docs/sizing.md')!;
    const changed = page.replace(/\| 46( +)\|/, '| 47$1|');
    expect(changed).not.toBe(page);
    expect(withSections(changed)).toBe(page);
    expect(() => withSections('<!-- made: nothing -->\n<!-- end -->')).toThrow('There is no section "nothing"');
  });
});

const PLANTED = `
import { Construct } from 'constructs';
export interface SaidProps {
  readonly silent: string;
  /** Words. */
  readonly noDefault?: string;
  /**
   * Words with a | pipe.
   * @default - by us
   */
  readonly fine?: 'a' | 'b';
}
/** Words. */
interface Kept {
  readonly x: number;
}
export class Said extends Construct {
  /** Words. */
  readonly kept: readonly Kept[] = [];
  private readonly hidden = 1;
  readonly #secret = 2;
  /** @throws when it is told to */
  constructor(scope: Construct, id: string, props: SaidProps) {
    super(scope, id);
    if (props.silent === '') throw new Error(String(this.hidden + this.#secret));
  }
  /** Imports it. */
  static fromName(name: string): string {
    return name;
  }
}
`;

describe('the reader', () => {
  let planted: Reference;
  beforeAll(() => {
    const file = join(ROOT, 'constructs/aws/planted.ts');
    planted = readReference(file, new Map([[file, PLANTED]]));
  }, 180_000);

  it('finds what is not said', () => {
    expect(gaps(planted)).toEqual([
      'Kept: named in public, and not exported',
      'Said: no docstring',
      'SaidProps.silent: no docstring',
      'SaidProps.noDefault: optional, and no @default',
    ]);
  });

  it('shows props, imports and errors, and nothing that is private', () => {
    const page = referencePage(planted, REFERENCES.aws).replace(/ +/g, ' ');
    expect(page).toContain('| `silent` | `string` | required | |');
    expect(page).toContain("| `fine` | `'a' \\| 'b'` | by us | Words with a \\| pipe. |");
    expect(page).toContain('| `fromName(name: string): string` | Imports it. |');
    expect(page).toContain('**Errors at synth**: when it is told to.');
    expect(page).not.toMatch(/hidden|#secret/);
  });
});

const PLANTED_COMPONENT = `
import * as pulumi from '@pulumi/pulumi';
/** Words. */
export interface SaidArgs {
  /** Words. */
  readonly name: pulumi.Input<string>;
  readonly silent?: number;
}
/** Words. */
export class Said extends pulumi.ComponentResource {
  /** Words. */
  readonly shown: pulumi.Output<string>;
  /** @throws when it is told to */
  constructor(name: string, args: SaidArgs, opts?: pulumi.ComponentResourceOptions) {
    super('planted:Said', name, {}, opts);
    this.shown = pulumi.output(args.name);
  }
}
`;

it('the reader knows components of Pulumi, and what they inherit is not theirs', () => {
  const file = join(ROOT, 'constructs/azure/planted.ts');
  const planted = readReference(file, new Map([[file, PLANTED_COMPONENT]]));
  expect(gaps(planted)).toEqual(['SaidArgs.silent: no docstring', 'SaidArgs.silent: optional, and no @default']);
  const page = referencePage(planted, REFERENCES.azure).replace(/ +/g, ' ');
  expect(page).toContain('**Arguments (`SaidArgs`)**');
  expect(page).toContain('| `name` | `pulumi.Input<string>` | required | Words. |');
  expect(page).toContain('| `shown` | `pulumi.Output<string>` | Words. |');
  expect(page).toContain('**Errors at preview**: when it is told to.');
  expect(page).not.toMatch(/urn|getProvider/);
}, 180_000);
