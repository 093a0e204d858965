/** What alerts refuse at preview, before anything is made. */

import { ALERT_NAMES } from '../../shared/alarm-texts-azure';
import type { BillingEventHub } from '../event-hub/billing-event-hub';
import { unknownArgs } from '../shared/known-args';
import { wrongCommon, wrongFlag, wrongWhenMissing } from '../shared/needed-args';
import { found, refuseWrongArgs, shown, type WrongArg } from '../shared/wrong-args';
import type { BillingMonitoringArgs } from './billing-monitoring-args';
import { lagLimits } from './worker-alerts';

/** All that it reads. */
const ARGS = {
  resourceGroupName: true,
  tags: true,
  workspaceId: true,
  consumer: true,
  eventHub: true,
  checkpointStore: true,
  ledger: true,
  alertEmails: true,
  actionGroupIds: true,
  warningActionGroupIds: true,
  lagMinutes: true,
  workbook: true,
  disable: true,
} as const satisfies Record<keyof BillingMonitoringArgs, true>;

const EMAIL = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;

const LISTS = ['alertEmails', 'disable', 'actionGroupIds', 'warningActionGroupIds'] as const;

type Checked = Pick<BillingMonitoringArgs, (typeof LISTS)[number] | 'lagMinutes'> & {
  readonly eventHub?: Pick<BillingEventHub, 'retentionHours'>;
};

/** @throws all that is wrong with the arguments, in one error */
export function checkMonitoring(name: string, args: BillingMonitoringArgs): void {
  refuseWrongArgs('BillingMonitoring', name, [
    ...wrongCommon(args),
    ...unknownArgs(args, ARGS),
    missingWorkspace(args),
    wrongFlag('workbook', args?.workbook),
    ...wrongMonitoring({ ...args }),
  ]);
}

/** All that is wrong with what the alerts are told, by the pattern too. */
export function wrongMonitoring(args: Checked): WrongArg[] {
  const lists = LISTS.flatMap((prop) => wrongList(prop, args[prop]));
  if (lists.length > 0) return lists;
  const unknown = (args.disable ?? []).filter((name) => !ALERT_NAMES.includes(name));
  const noAddress = (args.alertEmails ?? []).filter((address) => !EMAIL.test(address));
  return found([
    wrongLag(args),
    unknown.length === 0
      ? undefined
      : {
          prop: 'disable',
          received: unknown.join(', '),
          allowed: ALERT_NAMES.join(', '),
          wayOut: 'An alert that is misspelled here would go on paging.',
        },
    noAddress.length === 0
      ? undefined
      : {
          prop: 'alertEmails',
          received: noAddress.map(shown).join(', '),
          allowed: 'e-mail addresses',
          wayOut: 'Azure would refuse the action group, and with it every alert.',
        },
  ]);
}

function wrongList(prop: string, value: unknown): WrongArg[] {
  if (value === undefined || Array.isArray(value)) return [];
  return [{ prop, received: shown(value), allowed: 'a list', wayOut: 'Put it into brackets: [ … ].' }];
}

/** What is wrong when nobody says where the workers' log is. */
function missingWorkspace(args: Partial<BillingMonitoringArgs> | undefined): WrongArg | undefined {
  return wrongWhenMissing(
    'workspaceId',
    args?.workspaceId,
    'the id of a Log Analytics workspace',
    'Alerts and charts read the workers’ lines there. A BillingConsumer has its `workspaceId`.',
  );
}

function wrongLag({ lagMinutes, eventHub }: Checked): WrongArg | undefined {
  if (lagMinutes === undefined) return undefined;
  const { warningMs, criticalMs } = lagLimits(lagMinutes, eventHub?.retentionHours);
  if (warningMs > 0 && warningMs < criticalMs) return undefined;
  return {
    prop: 'lagMinutes',
    received: String(lagMinutes),
    allowed: `more than 0 and less than ${criticalMs / 60_000}, a quarter of what the event hub keeps`,
    wayOut: 'There lagCritical pages; the warning must come before. Leave it out for 5.',
  };
}
