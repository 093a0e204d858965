/** Props that a construct cannot do without, when plain JavaScript or a `!` too many leaves them out. */
import { App, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { describe, expect, it } from 'vitest';
import {
  BillingConsumer,
  BillingMonitoring,
  BillingStream,
  KinesisBilling,
  LeaseTable,
  LedgerDatabase,
} from '../../constructs/aws';

type Made = new (scope: Construct, id: string, props: never) => Construct;

/** What is said, a line for each prop; empty when it was made. */
function refused(construct: Made, props: unknown): string[] {
  try {
    new construct(new Stack(new App(), 'Billing'), 'Usage', props as never);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}

describe.each<[string, Made, string[]]>([
  ['KinesisBilling', KinesisBilling, ['stripeKey', 'spendCap']],
  ['BillingConsumer', BillingConsumer, ['stream', 'leaseTable', 'ledger', 'stripeKey', 'spendCap']],
  ['LedgerDatabase', LedgerDatabase, ['vpc']],
  ['BillingMonitoring', BillingMonitoring, ['consumer']],
])('%s', (_, construct, needed) => {
  it.each([undefined, {}, Object.fromEntries(needed.map((prop) => [prop, null]))])('names all, for %j', (props) => {
    const lines = refused(construct, props);
    expect(lines.map((line) => /^\[Billing\/Usage\] (\S+) is not given; allowed: ./.exec(line)?.[1])).toEqual(needed);
  });
});

describe.each<[string, Made]>([
  ['BillingStream', BillingStream],
  ['LeaseTable', LeaseTable],
])('%s', (_, construct) => {
  it.each([undefined, {}])('needs nothing: %j', (props) => {
    expect(refused(construct, props)).toEqual([]);
  });
});
