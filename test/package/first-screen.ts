/** The first thing that a platform engineer writes in a repository of their own: the stack, and its test. */
const STACK = `
import { App, Stack, aws_cloudwatch_actions as actions, aws_iam as iam, aws_secretsmanager as secrets, aws_sns as sns } from 'aws-cdk-lib';
import { KinesisBilling, SpendCap, StripeMode } from 'chargeonce/aws';

const stack = new Stack(new App(), 'Billing');
const billing = new KinesisBilling(stack, 'Usage', {
  stripeKey: secrets.Secret.fromSecretNameV2(stack, 'StripeKey', 'billing/stripe-rk'),
  stripeMode: StripeMode.TEST,                        // live is said in code, never guessed
  spendCap: SpendCap.perPeriod({ usd: 50_000_00 }),   // cents; SpendCap.off() must be said
  alarmActions: [new actions.SnsAction(new sns.Topic(stack, 'Pager'))],
});
billing.stream.grantPublish(iam.Role.fromRoleName(stack, 'Metering', 'metering'));
`;

/** The test is in a file of its own there, which finds the stack; what it imports for that stands first. */
const TEST = `
import { Template } from 'aws-cdk-lib/assertions';
import { maskAssets } from 'chargeonce/aws';

test('billing stack', () => {
  const template = Template.fromStack(stack);
  template.hasResourceProperties('AWS::Kinesis::Stream', { RetentionPeriodHours: 168 });
  expect(maskAssets(template.toJSON())).toMatchSnapshot();
});
`;

export const FIRST_SCREEN = `${STACK}${TEST}`;
