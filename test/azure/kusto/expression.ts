/** Values of Kusto expressions, as far as the product's queries use them. Whatever else is met is an error. */

export type Row = Readonly<Record<string, unknown>>;

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|(\d+m)\b|(-?\d+(?:\.\d+)?)|(==|>=|<=|>|<)|([A-Za-z_]\w*)|([().,]))/y;

export function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const pattern = new RegExp(TOKEN);
  while (pattern.lastIndex < text.trimEnd().length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) throw new Error(`Kusto that this test does not know: ${text.slice(at)}`);
    tokens.push(match[0].trim());
  }
  return tokens;
}

const COMPARISONS: Readonly<Record<string, (a: unknown, b: unknown) => boolean>> = {
  '==': (a, b) => a === b,
  '>=': (a, b) => isNumber(a) && isNumber(b) && a >= b,
  '>': (a, b) => isNumber(a) && isNumber(b) && a > b,
  '<': (a, b) => isNumber(a) && isNumber(b) && a < b,
  has: (a, b) => typeof a === 'string' && hasTerm(a, String(b)),
};
const isNumber = (value: unknown): value is number => typeof value === 'number';

/** A whole term: with something that is no letter and no digit on both sides. */
function hasTerm(text: string, term: string): boolean {
  const escaped = term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`, 'i').test(text);
}

const MINUTE_MS = 60_000;

const FUNCTIONS: Readonly<Record<string, (...args: unknown[]) => unknown>> = {
  parse_json: (text) => {
    try {
      return JSON.parse(String(text));
    } catch {
      return text;
    }
  },
  tostring: (value) => (value === undefined || value === null ? '' : String(value)),
  todouble: (value) => (isNumber(value) ? value : null),
  bin: (time, size) => Math.floor(Number(time) / Number(size)) * Number(size),
};

/** Reads the tokens up to their end. */
export class Expression {
  private at = 0;

  constructor(
    private readonly tokens: readonly string[],
    private readonly row: Row,
  ) {}

  value(): unknown {
    const value = this.both();
    if (this.at < this.tokens.length) throw new Error(`Kusto that this test does not know: ${this.tokens.join(' ')}`);
    return value;
  }

  private both(): unknown {
    let left = this.compared();
    while (this.tokens[this.at] === 'and') {
      this.at += 1;
      const right = this.compared();
      left = left === true && right === true;
    }
    return left;
  }

  private compared(): unknown {
    const left = this.operand();
    const compare = COMPARISONS[this.tokens[this.at] ?? ''];
    if (compare === undefined) return left;
    this.at += 1;
    return compare(left, this.operand());
  }

  private operand(): unknown {
    const token = this.tokens[this.at++] ?? '';
    if (token.startsWith('"')) return JSON.parse(token);
    if (/^\d+m$/.test(token)) return Number.parseInt(token, 10) * MINUTE_MS;
    if (/^-?\d/.test(token)) return Number(token);
    return this.tokens[this.at] === '(' ? this.call(token) : this.path(token);
  }

  private call(name: string): unknown {
    const run = FUNCTIONS[name];
    if (run === undefined) throw new Error(`A function of Kusto that this test does not know: ${name}`);
    const args: unknown[] = [];
    while (this.tokens[this.at] !== ')') {
      this.at += 1;
      args.push(this.both());
    }
    this.at += 1;
    return run(...args);
  }

  private path(name: string): unknown {
    if (!(name in this.row)) throw new Error(`There is no column ${name}; there are ${Object.keys(this.row)}`);
    let value: unknown = this.row[name];
    while (this.tokens[this.at] === '.') {
      const key = this.tokens[this.at + 1] ?? '';
      value = typeof value === 'object' && value !== null ? (value as Row)[key] : undefined;
      this.at += 2;
    }
    return value;
  }
}
