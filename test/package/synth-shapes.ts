/**
 * Runs in a user's project, against whatever aws-cdk-lib is installed there. `synth`: synthesizes every shape, with
 * that version's flags and without. `nag`: the same with AWS Solutions' rules in the synthesis, once with everything
 * acknowledged and once with nothing. Prints what came of it as JSON.
 */
import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { constructAt, findingsIn, reasonFor } from '../aws/nag';
import { SHAPES } from '../aws/shapes';
import { FLAGS, type Synthesis, synthesize } from '../aws/synthesis';

export interface Synthesized extends Pick<Synthesis, 'templates' | 'annotations'> {
  readonly shape: string;
  readonly flags: string;
}

export interface Checked {
  readonly shape: string;
  /** What a synthesis says when findings are acknowledged, and when they are not; `fine` when it just ends. */
  readonly acknowledged: string;
  readonly bare: string;
}

function synth(): Synthesized[] {
  return Object.entries(SHAPES).flatMap(([shape, build]) =>
    Object.entries(FLAGS).map(([flags, context]) => {
      const { templates, annotations } = synthesize(build, { context });
      return { shape, flags, templates, annotations };
    }),
  );
}

function nag(): Checked[] {
  const context = FLAGS['the recommended flags']!;
  return Object.entries(SHAPES).map(([shape, build]) => {
    const findings = findingsIn(synthesize(build, { context }).app);
    const outcome = (acknowledge: (app: App) => void) => {
      try {
        synthesize(build, {
          context,
          plant: (app) => {
            Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
            acknowledge(app);
          },
        });
        return 'fine';
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    };
    const acknowledged = outcome((app) => {
      for (const { rule, where } of findings) {
        Validations.of(constructAt(app, where)).acknowledge({ id: rule, reason: reasonFor(rule, where) });
      }
    });
    return { shape, acknowledged, bare: outcome(() => {}) };
  });
}

if (require.main === module) process.stdout.write(JSON.stringify(process.argv[2] === 'nag' ? nag() : synth()));
