/** What the pattern makes with its defaults, as far as it costs money by the piece. */
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { KinesisBilling, SpendCap } from '../../constructs/aws';

interface AlarmProperties {
  readonly Metrics?: readonly { readonly MetricStat?: unknown }[];
}

/** Metrics that the alarms of the default stack read, which is what CloudWatch charges for. */
export function alarmMetrics(): number {
  const stack = new Stack();
  new KinesisBilling(stack, 'Usage', {
    stripeKey: secrets.Secret.fromSecretNameV2(stack, 'StripeKey', 'billing/stripe-rk'),
    spendCap: SpendCap.off(),
    image: ecs.ContainerImage.fromRegistry('example'),
  });
  const alarms = Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm');
  const metricsOf = ({ Metrics }: AlarmProperties) => Metrics?.filter((each) => each.MetricStat).length ?? 1;
  return Object.values(alarms).reduce((sum, alarm) => sum + metricsOf(alarm.Properties as AlarmProperties), 0);
}
