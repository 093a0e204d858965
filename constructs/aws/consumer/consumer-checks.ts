/** What a consumer refuses at synth, before anything is made. */
import { Annotations, Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ENVIRONMENT } from '../../../runtime/contract';
import { meantSetting } from '../../../runtime/contract/misspelt';
import { type SettingFault, wrongSetting } from '../../../runtime/contract/setting-values';
import { wrongProp } from '../../shared/check';
import { FARGATE_CPU, fargateMemory } from '../../shared/fargate-size';
import type { BillingConsumerProps } from './billing-consumer-props';

/** Settings that would contradict what the construct wired, beside those it sets itself. */
const OWNED_UNSET = [
  ENVIRONMENT.DATABASE_URL,
  ENVIRONMENT.DATABASE_AUTH,
  ENVIRONMENT.DATABASE_SECRET_ARN,
  ENVIRONMENT.PGUSER,
  ENVIRONMENT.PGPASSWORD,
  ENVIRONMENT.PGPASSWORD_FILE,
  ENVIRONMENT.STRIPE_API_KEY,
  ENVIRONMENT.SPEND_CAP_DEFAULT,
  ENVIRONMENT.STREAM_ARN,
  ENVIRONMENT.WORKER_ID,
  ENVIRONMENT.MIGRATE_COMMAND,
  ENVIRONMENT.CHARGEONCE_CRASH_AT,
] as const;

/**
 * Warns of a name that looks like a setting misspelt, which the runtime would not read.
 *
 * @throws when `environment` names something that the construct sets or wires itself, or has a value that no worker takes
 */
export function checkEnvironment(
  scope: Construct,
  given: Readonly<Record<string, string>>,
  ours: readonly string[],
): void {
  const owned = new Set<string>([...ours, ...OWNED_UNSET]);
  for (const [name, value] of Object.entries(given)) {
    if (owned.has(name)) {
      throw wrongProp({
        path: scope.node.path,
        prop: 'environment',
        received: `a map with ${name}`,
        allowed: 'names the construct does not set itself',
        wayOut: `Leave ${name} out: its value follows from the other props.`,
      });
    }
    const fault = wrongValue(name, value);
    if (fault !== undefined) {
      const received = typeof value === 'string' ? JSON.stringify(value) : `the ${typeof value} ${String(value)}`;
      throw wrongProp({ path: scope.node.path, prop: `environment.${name}`, received, ...fault });
    }
    const meant = meantSetting(name);
    if (meant !== undefined) {
      const text = `environment has ${name}, which nothing reads. Did you mean ${meant}?`;
      Annotations.of(scope).addWarningV2(`chargeonce:environment:${name}`, text);
    }
  }
}

/** A value that is not text would fail in the middle of a deploy; one that the worker refuses, at its start. */
function wrongValue(name: string, value: unknown): SettingFault | undefined {
  if (value === undefined || Token.isUnresolved(value)) return undefined;
  if (typeof value === 'string') return wrongSetting(name, value);
  return { allowed: 'text', wayOut: `Write '${String(value)}'.` };
}

/** @throws when the number of tasks is unknown at synth, no whole number, or above the number of shards */
export function checkDesiredCount(path: string, desiredCount: number, shardCount: number | undefined): void {
  const prop = 'desiredCount';
  if (Token.isUnresolved(desiredCount)) {
    const wayOut = 'Each task’s share of Stripe’s rate is worked out from it.';
    throw wrongProp({ path, prop, received: 'a token', allowed: 'a number known at synth', wayOut });
  }
  const received = String(desiredCount);
  if (!Number.isInteger(desiredCount) || desiredCount < 0) {
    throw wrongProp({ path, prop, received, allowed: 'a whole number from 0', wayOut: 'Leave it out for 2.' });
  }
  if (shardCount !== undefined && !Token.isUnresolved(shardCount) && desiredCount > shardCount) {
    const wayOut = 'A shard is read by one task at a time; the others would idle. Add shards or run fewer tasks.';
    throw wrongProp({ path, prop, received, allowed: `at most ${shardCount}, the shards`, wayOut });
  }
}

/** @throws when Fargate has no task of this size */
export function checkSize(path: string, cpu: number, memoryLimitMiB: number): void {
  if (Token.isUnresolved(cpu)) return;
  const memory = fargateMemory(cpu);
  if (memory.length === 0) {
    const wayOut = 'Leave it out for 256: one worker hardly uses more than one virtual CPU.';
    throw wrongProp({ path, prop: 'cpu', received: String(cpu), allowed: FARGATE_CPU.join(', '), wayOut });
  }
  if (Token.isUnresolved(memoryLimitMiB) || memory.includes(memoryLimitMiB)) return;
  throw wrongProp({
    path,
    prop: 'memoryLimitMiB',
    received: String(memoryLimitMiB),
    allowed: `with cpu ${cpu}: ${inWords(memory)}`,
    wayOut: 'Fargate has no other sizes. Leave both out for 256 and 512.',
  });
}

/** A few values, or the first ones and the last. */
function inWords(values: readonly number[]): string {
  return values.length <= 4 ? values.join(', ') : `${values.slice(0, 3).join(', ')} … ${values.at(-1)}`;
}

/**
 * The runtime finds the stream and the table in its own region, and the table in its own account.
 *
 * @throws when one of them certainly is elsewhere
 */
export function checkElsewhere(
  scope: Construct,
  { stream, leaseTable }: Pick<BillingConsumerProps, 'stream' | 'leaseTable'>,
): void {
  const { region, account } = Stack.of(scope);
  const check = (prop: string, where: 'region' | 'account', theirs: string, ours: string) => {
    if (Token.isUnresolved(theirs) || Token.isUnresolved(ours) || theirs === ours) return;
    throw wrongProp({
      path: scope.node.path,
      prop,
      received: `in the ${where} ${theirs}`,
      allowed: `the ${where} of the consumer, ${ours}`,
      wayOut: `Give this stack the env of the ${prop === 'stream' ? 'stream' : 'table'}: billing runs next to it.`,
    });
  };
  check('stream', 'region', stream.stream.env.region, region);
  check('leaseTable', 'region', leaseTable.table.env.region, region);
  check('leaseTable', 'account', leaseTable.table.env.account, account);
}

/** @throws when the fleet's rate is only known at deploy */
export function checkRate(path: string, stripeMaxRps: number | undefined): void {
  if (stripeMaxRps === undefined || !Token.isUnresolved(stripeMaxRps)) return;
  const wayOut = 'Each task’s share is worked out from it. Leave it out for 20.';
  throw wrongProp({ path, prop: 'stripeMaxRps', received: 'a token', allowed: 'a number known at synth', wayOut });
}
