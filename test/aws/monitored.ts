/** A monitored consumer with its parts, of which a test may replace any. */
import type { Stack } from 'aws-cdk-lib';
import {
  type AlarmName,
  type BillingConsumer,
  type BillingConsumerProps,
  BillingMonitoring,
  type BillingMonitoringProps,
} from '../../constructs/aws';
import { ALARM_NAMES } from '../../constructs/shared/alarm-texts';
import { type Alarm, alarmsOf } from '../support/alarms';
import { consumerStack, newStack } from './stack';

export interface Monitored {
  readonly stack: Stack;
  readonly consumer: BillingConsumer;
  readonly monitoring: BillingMonitoring;
}

export interface MonitoredOptions {
  /** Changes the consumer's parts, and so what is watched. */
  readonly parts?: (props: BillingConsumerProps, stack: Stack) => BillingConsumerProps;
  /** More props of the monitoring. */
  readonly props?: Partial<BillingMonitoringProps> | ((stack: Stack) => Partial<BillingMonitoringProps>);
  readonly stack?: Stack;
}

/** With nothing changed: every part is watched, with all defaults. */
export function monitored({
  parts = (given) => given,
  props = {},
  stack = newStack(),
}: MonitoredOptions = {}): Monitored {
  let watched: Pick<BillingMonitoringProps, 'stream' | 'leaseTable' | 'ledger'> = {};
  const { consumer } = consumerStack((given, scope) => {
    const changed = parts(given, scope);
    watched = { stream: changed.stream, leaseTable: changed.leaseTable, ledger: changed.ledger };
    return changed;
  }, stack);
  const more = typeof props === 'function' ? props(stack) : props;
  const monitoring = new BillingMonitoring(stack, 'Monitoring', { consumer, ...watched, ...more });
  return { stack, consumer, monitoring };
}

/** How the logical id of an alarm begins. */
export const idOf = (name: string) => `Monitoring${name.charAt(0).toUpperCase()}${name.slice(1)}`;
/** Names of the alarms that the stack has. */
export const namesOf = (stack: Stack): string[] =>
  alarmsOf(stack).map(({ id }) => ALARM_NAMES.find((name) => id.startsWith(idOf(name))) ?? id);

/** The one of this name. */
export function alarmOf(stack: Stack, name: AlarmName): Alarm {
  const found = alarmsOf(stack).find(({ id }) => id.startsWith(idOf(name)));
  if (found === undefined) throw new Error(`${name} was not made`);
  return found;
}
