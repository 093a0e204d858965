/**
 * Reads single variables strictly and collects every problem, so that one start tells all that is wrong.
 * A problem says: the name, the value received (secrets redacted), what is allowed, and the way out.
 */
import type { EnvironmentName } from '../contract';
import { type NumberRule, wrongChoice, wrongNumber } from '../contract/setting-values';
import { redactSecrets } from './redact';

/** Environment as the process got it. An empty value counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What is wrong with one variable. */
export interface Fault {
  /** What may stand there, in words. */
  readonly allowed: string;
  /** What to do about it. */
  readonly wayOut: string;
}

export class Reader {
  readonly problems: string[] = [];
  readonly warnings: string[] = [];

  constructor(private readonly env: Environment) {}

  /** The value, or nothing when it is absent or empty. */
  optional(name: EnvironmentName): string | undefined {
    const value = this.env[name];
    return value === undefined || value === '' ? undefined : value;
  }

  /** Records a problem. `received` overrides what is shown, for values that are secrets. */
  problem(name: EnvironmentName, fault: Fault, received = this.optional(name)): undefined {
    const shown = received === undefined ? 'nothing' : JSON.stringify(redactSecrets(received).slice(0, 200));
    this.problems.push(`${name}: received ${shown}; allowed: ${fault.allowed}. ${fault.wayOut}`);
    return undefined;
  }

  warn(name: EnvironmentName, text: string): void {
    this.warnings.push(`${name}: ${text}`);
  }

  /** The value; its absence is a problem and answers an empty text, which no caller gets to see. */
  required(name: EnvironmentName, fault: Fault): string {
    const value = this.optional(name);
    if (value === undefined) this.problem(name, fault);
    return value ?? '';
  }

  /** The value if it matches, otherwise a problem. */
  matching(name: EnvironmentName, pattern: RegExp, fault: Fault): string | undefined {
    const value = this.optional(name);
    if (value !== undefined && !pattern.test(value)) return this.problem(name, fault);
    return value;
  }

  oneOf<T extends string>(name: EnvironmentName, allowed: readonly T[], fallback: T): T {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    const fault = wrongChoice(value, { choices: allowed, fallback });
    if (fault !== undefined) this.problem(name, fault);
    return allowed.find((each) => each === value) ?? fallback;
  }

  flag(name: EnvironmentName): boolean {
    return this.oneOf(name, ['true', 'false'] as const, 'false') === 'true';
  }

  number(name: EnvironmentName, rule: NumberRule): number {
    const value = this.optional(name);
    if (value === undefined) return rule.fallback;
    const fault = wrongNumber(value, rule);
    if (fault === undefined) return Number(value);
    this.problem(name, fault);
    return rule.fallback;
  }

  milliseconds(name: EnvironmentName, rule: Omit<NumberRule, 'unit'>): number {
    return this.number(name, { ...rule, unit: 'milliseconds' });
  }

  /** An http(s) address without path, query or credentials. Plain http only to this machine. */
  address(name: EnvironmentName, example: string): string | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    const fault = { allowed: `an address such as ${example}`, wayOut: 'Give scheme, host and port, nothing else.' };
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) return this.problem(name, fault);
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '' || url.pathname !== '/') {
      return this.problem(name, fault);
    }
    return url.origin;
  }
}

/** Whether a host name or address means this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}
