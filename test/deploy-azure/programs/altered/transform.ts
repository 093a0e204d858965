/** Overrides properties of every resource of a type, as a platform team's transform would. */
import * as pulumi from '@pulumi/pulumi';

type Alterations = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const alterations = new pulumi.Config().requireObject<Alterations>('alterations');
pulumi.runtime.registerResourceTransform(({ type, props, opts }) => ({
  props: { ...props, ...alterations[type] },
  opts,
}));
