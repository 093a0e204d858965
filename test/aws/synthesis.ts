/** Apps for the tests that look at whole synthesized applications. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Environment } from 'aws-cdk-lib';
import type { Shape } from './shapes';

// The CDK warns of its own calls to its own deprecated names.
process.env.JSII_DEPRECATED = 'quiet';

/** The CDK's feature flags: as `cdk init` writes them into a new app, and as an old app has them. */
export const FLAGS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'the recommended flags': JSON.parse(
    readFileSync(require.resolve('aws-cdk-lib/recommended-feature-flags.json'), 'utf8'),
  ) as Record<string, unknown>,
  'no flags': {},
};

export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly [section: string]: unknown;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export interface Synthesis {
  readonly app: App;
  /** By stack name. */
  readonly templates: Readonly<Record<string, Template>>;
  /** Warnings and errors that constructs attached to themselves. */
  readonly annotations: readonly string[];
}

export interface SynthesisOptions {
  readonly env?: Environment;
  readonly context?: Readonly<Record<string, unknown>>;
  /** Something more, after the shape. */
  readonly plant?: (app: App) => void;
}

/** Synthesizes a shape; what the CDK writes meanwhile is removed again. */
export function synthesize(shape: Shape, options: SynthesisOptions = {}): Synthesis {
  const outdir = mkdtempSync(join(tmpdir(), 'chargeonce-synth-'));
  try {
    const app = new App({ analyticsReporting: false, outdir, context: { ...zones(options.env), ...options.context } });
    shape(app, options.env);
    options.plant?.(app);
    const { stacks } = app.synth();
    return {
      app,
      templates: Object.fromEntries(stacks.map((stack) => [stack.stackName, stack.template as Template])),
      annotations: stacks.flatMap((stack) =>
        stack.messages
          .filter(({ level }) => level !== 'info')
          .map(({ level, id, entry }) => `${level} at ${id}: ${String(entry.data)}`),
      ),
    };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** In a concrete environment the CDK would ask AWS which zones there are. */
function zones(env: Environment | undefined): Record<string, unknown> {
  if (env === undefined) return {};
  const { account, region } = env;
  return {
    [`availability-zones:account=${account}:region=${region}`]: ['a', 'b', 'c'].map((zone) => `${region}${zone}`),
  };
}
