import {
  App,
  aws_cloudwatch_actions as actions,
  Stack,
  aws_secretsmanager as secrets,
  aws_sns as sns,
} from 'aws-cdk-lib';
import { KinesisBilling, SpendCap, StripeMode } from '../../constructs/aws';

/** The smallest real stack. `outdir`: where it is synthesized to; absent: as the CDK says (`cdk.out`). */
export function billingApp(outdir?: string): App {
  const app = new App({ analyticsReporting: false, ...(outdir === undefined ? {} : { outdir }) });
  const stack = new Stack(app, 'Billing');
  new KinesisBilling(stack, 'Usage', {
    stripeKey: secrets.Secret.fromSecretNameV2(stack, 'StripeKey', 'billing/stripe-rk'),
    stripeMode: StripeMode.TEST,
    spendCap: SpendCap.perPeriod({ usd: 50_000_00 }),
    alarmActions: [new actions.SnsAction(new sns.Topic(stack, 'Pager'))],
  });
  return app;
}

if (require.main === module) billingApp().synth();
