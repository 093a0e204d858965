/** BillingMonitoring: which alerts it makes of which parts, whom they tell, what they say, and what it refuses. */
import * as pulumi from '@pulumi/pulumi';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ALERT_NAMES, type AlertName, AZURE_ALERT_TEXTS } from '../../constructs/shared/alarm-texts-azure';
import type { Registered, Run } from './mocks';
import { WORKSPACE_ID, watch, watchAnew } from './monitored';

const RULE = 'azure-native:monitor:ScheduledQueryRule';
const METRIC = 'azure-native:monitor:MetricAlert';
const GROUP = 'azure-native:monitor:ActionGroup';

afterEach(() => {
  vi.restoreAllMocks();
});

type Inputs = Record<string, never> & {
  severity: number;
  description: string;
  displayName: string;
  criteria: { allOf: Record<string, unknown>[] };
  actions: unknown;
};
const inputs = (resource: Registered) => resource.inputs as unknown as Inputs;
const alerts = (run: Run<unknown>) => [...run.ofType(RULE), ...run.ofType(METRIC)];
const kebab = (name: string) => `watch-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
const names = (run: Run<{ readonly alerts: object }>) => Object.keys(run.result.alerts).sort();
const groupsOf = (resource: Registered) => {
  const { actions } = inputs(resource) as { actions: { actionGroups?: string[] } & { actionGroupId: string }[] };
  return actions.actionGroups ?? actions.map(({ actionGroupId }) => actionGroupId);
};
const severities = (run: Run<unknown>, of: 'page' | 'warn') =>
  ALERT_NAMES.filter((name) => AZURE_ALERT_TEXTS[name].severity === of).map((name) => run.named(kebab(name)));

describe('alerts', () => {
  it('are made for every part that is given, one for each name', async () => {
    const run = await watch({ capture: true });
    expect(names(run)).toEqual([...ALERT_NAMES].sort());
    expect(
      alerts(run)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(ALERT_NAMES.map(kebab).sort());
  });

  it('are none for what is not given', async () => {
    expect(names(await watch({ parts: [] }))).toEqual([]);
    expect(names(await watch({ parts: ['checkpointStore'] }))).toEqual(['storageThrottled', 'storageUnavailable']);
    expect(names(await watch({ parts: ['eventHub'] }))).not.toContain('captureBacklog');
    expect(names(await watch({ parts: ['consumer'] }))).toContain('workersGone');
  });

  it('are made in a preview too, when nothing is known yet', async () => {
    const run = await watch({}, { preview: true });
    expect(names(run)).toEqual(ALERT_NAMES.filter((name) => name !== 'captureBacklog').sort());
  });

  it('are not made when they are disabled, and only those', async () => {
    const disable: AlertName[] = ['replicasRestart', 'deadLetters'];
    const run = await watch({ args: { disable } });
    expect(names(run)).toEqual(ALERT_NAMES.filter((name) => ![...disable, 'captureBacklog'].includes(name)).sort());
  });

  it('have Azure’s numbers: 0 wakes somebody, 2 waits for the morning', async () => {
    const run = await watch({ capture: true });
    expect(new Set(severities(run, 'page').map((each) => inputs(each).severity))).toEqual(new Set([0]));
    expect(new Set(severities(run, 'warn').map((each) => inputs(each).severity))).toEqual(new Set([2]));
  });

  it('end by themselves, and say what they mean and what to do first', async () => {
    for (const each of alerts(await watch({ capture: true }))) {
      expect(inputs(each)).toMatchObject({ autoMitigate: true, enabled: true });
      expect(inputs(each).description).toMatch(/^\[(page|warn)\] .+ \(.+\)\. .+ First: /);
      expect(inputs(each).description.length).toBeLessThan(2_048);
      expect(inputs(each).description).not.toMatch(/\b(ECS|RDS|Kinesis|DynamoDB|CloudWatch|stream|shards?|lease)\b/);
    }
  });

  it('look at the workers of this consumer alone, in the table of its environment', async () => {
    const run = await watch();
    const { containerAppName } = run.named('charges-app').inputs;
    for (const rule of run.ofType(RULE)) {
      const [condition] = inputs(rule).criteria.allOf;
      expect(condition!.query).toMatch(/^ContainerAppConsoleLogs\n/);
      expect(condition!.query).toContain(`tostring(line.service) == "${containerAppName}"`);
      expect(rule.inputs).toMatchObject({ scopes: [WORKSPACE_ID], skipQueryValidation: true });
    }
  });

  it('of silence begin when the app is there', async () => {
    const run = await watch();
    expect(run.named('watch-workers-gone').dependsOn).toContain(run.named('charges-app').urn);
    expect(run.named('watch-dead-letters').dependsOn).not.toContain(run.named('charges-app').urn);
  });

  it('on metrics name what Azure measures', async () => {
    const run = await watch({ capture: true });
    const shown = run.ofType(METRIC).map(({ name, inputs: { scopes, windowSize, evaluationFrequency, criteria } }) => {
      const { metricNamespace, metricName, timeAggregation, operator, threshold, dimensions } = (
        criteria as Inputs['criteria']
      ).allOf[0]!;
      const of = String((scopes as string[])[0]).replace(/.*\/providers\//, '');
      const where = (dimensions as { name: string; values: string[] }[] | undefined)?.map(
        (each) => `${each.name}=${each.values.join('|')}`,
      );
      const what = `${timeAggregation} ${operator} ${threshold} in ${windowSize} each ${evaluationFrequency}`;
      return `${name}: ${metricNamespace} ${metricName} ${what} ${where ?? ''} of ${of}`;
    });
    expect(shown.sort()).toMatchSnapshot();
  });
});

describe('limits', () => {
  const conditionOf = async (name: string, lagMinutes?: number) => {
    const run = await watch(lagMinutes === undefined ? {} : { args: { lagMinutes } });
    return String(inputs(run.named(name)).criteria.allOf[0]!.query);
  };

  it('of lag are 5 minutes, and a quarter of the retention', async () => {
    expect(await conditionOf('watch-lag-warning')).toContain('value > 300000');
    expect(await conditionOf('watch-lag-critical')).toContain(`value > ${(168 / 4) * 3_600_000}`);
    expect(await conditionOf('watch-lag-warning', 20)).toContain('value > 1200000');
  });

  it.each([0, -1, Number.NaN, 42 * 60, 100_000])('refuses lagMinutes %s', async (lagMinutes) => {
    await expect(watch({ args: { lagMinutes } })).rejects.toThrow(
      `lagMinutes is ${lagMinutes}; allowed: more than 0 and less than 2520`,
    );
  });
});

describe('who is told', () => {
  it('is everybody by e-mail', async () => {
    const run = await watch({ args: { alertEmails: ['a@contoso.com', 'b@contoso.com'] } });
    const [group] = run.ofType(GROUP);
    expect(group!.inputs).toMatchObject({
      location: 'Global',
      emailReceivers: [{ emailAddress: 'a@contoso.com' }, { emailAddress: 'b@contoso.com' }],
    });
    expect(String(group!.inputs.groupShortName).length).toBeLessThanOrEqual(12);
    for (const each of alerts(run)) expect(groupsOf(each)).toEqual([expect.stringContaining('watch-action-group')]);
  });

  it('is the given groups, for warnings others when they are given', async () => {
    const run = await watch({ args: { alertEmails: [], actionGroupIds: ['wake'], warningActionGroupIds: ['note'] } });
    expect(run.ofType(GROUP)).toEqual([]);
    expect(run.result.actionGroup).toBeUndefined();
    expect(groupsOf(run.named('watch-workers-gone'))).toEqual(['wake']);
    expect(groupsOf(run.named('watch-ledger-down'))).toEqual(['wake']);
    expect(groupsOf(run.named('watch-dead-letters'))).toEqual(['note']);
    expect(groupsOf(run.named('watch-hub-throttled'))).toEqual(['note']);
  });

  it('is nobody with a warning, and with none when somebody is', async () => {
    const warn = vi.spyOn(pulumi.log, 'warn').mockResolvedValue();
    await watchAnew();
    expect(warn).not.toHaveBeenCalled();
    await watchAnew({ args: { alertEmails: [] } });
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('nobody is told'), expect.anything());
  });

  it('is no address that is none', async () => {
    await expect(watch({ args: { alertEmails: ['ops@contoso.com', 'ops'] } })).rejects.toThrow(
      'alertEmails is "ops"; allowed: e-mail addresses',
    );
  });
});

describe('tags and resource group', () => {
  it('are those of everything that is made', async () => {
    const run = await watch({ args: { tags: { team: 'billing' }, resourceGroupName: 'rg-watch' } });
    const made = run.resources.filter(
      ({ name, type }) => name.startsWith('watch-') && type.startsWith('azure-native:'),
    );
    expect(made.length).toBeGreaterThan(30);
    for (const { inputs: all } of made) {
      expect(all).toMatchObject({ tags: { team: 'billing' }, resourceGroupName: 'rg-watch' });
    }
    expect(inputs((await watch()).named('watch-workers-gone'))).not.toHaveProperty('tags');
  });
});

describe('disable', () => {
  it('refuses a name that no alert has', async () => {
    await expect(watch({ args: { disable: ['workerGone' as AlertName] } })).rejects.toThrow(
      /\[BillingMonitoring watch\] disable is workerGone; allowed: lagWarning, /,
    );
  });
});
