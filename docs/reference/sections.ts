/** Tables inside hand-written pages that are made from the code, so that they cannot say anything else. */
import { RULES } from '../../constructs/azure/policy/rules';
import { ALARM_NAMES, ALARM_TEXTS, type AlarmText } from '../../constructs/shared/alarm-texts';
import { ALERT_NAMES, AZURE_ALERT_TEXTS } from '../../constructs/shared/alarm-texts-azure';
import { METRICS, METRICS_BY_LABEL, METRICS_NAMESPACE } from '../../runtime/contract';
import { kclWrites, leaseTableSize } from '../../runtime/contract/lease-table-size';
import { checkpointTable } from './checkpoint-requests';
import { costTable } from './cost';
import { azureCostTable } from './cost-azure';
import { table } from './table';

/** What stands between `<!-- made: name -->` and `<!-- end -->` in a page. */
export const SECTIONS: Readonly<Record<string, () => string>> = {
  alarms: () => alarmTable('alarm', ALARM_NAMES, ALARM_TEXTS),
  'azure alerts': () => alarmTable('alert', ALERT_NAMES, AZURE_ALERT_TEXTS),
  metrics: metricTable,
  'lease table': leaseTable,
  'checkpoint requests': checkpointTable,
  cost: costTable,
  'azure cost': azureCostTable,
  policies: policyTable,
};

/**
 * A page with its made sections made anew.
 * @throws when a page asks for a section that nobody makes
 */
export function withSections(page: string): string {
  return page.replace(/(<!-- made: ([a-z ]+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => {
    const made = SECTIONS[name];
    if (!made) throw new Error(`There is no section "${name}"; sections: ${Object.keys(SECTIONS).join(', ')}.`);
    return `${begin}\n${made()}\n\n${end}`;
  });
}

function alarmTable<Name extends string>(
  word: string,
  names: readonly Name[],
  texts: Readonly<Record<Name, AlarmText>>,
): string {
  const rows = (severity: 'page' | 'warn') =>
    names
      .filter((name) => texts[name].severity === severity)
      .map((name) => {
        const { title, means, firstStep } = texts[name];
        return [`\`${name}\``, severity, `**${title}.** ${means}`, firstStep];
      });
  return table([word, '', 'what it means', 'first thing to do'], [...rows('page'), ...rows('warn')]);
}

function policyTable(): string {
  return table(
    ['policy', 'what it demands', 'way out'],
    RULES.map(({ name, description, remediationSteps }) => [`\`${name}\``, description, remediationSteps]),
  );
}

function metricTable(): string {
  const plain = Object.values(METRICS).map(({ emf, prom, help, labels }) => {
    const by = labels.length === 0 ? '' : `{${labels.join(', ')}}`;
    return [`\`${emf}\``, `\`${prom}${by}\``, help];
  });
  const labelled = Object.values(METRICS_BY_LABEL).map(({ of, label, value, emf }) => {
    const { prom, help } = METRICS[of];
    return [`\`${emf}\``, `\`${prom}{${label}="${value}"}\``, `${help}: \`${value}\``];
  });
  return table([`line, namespace \`${METRICS_NAMESPACE}\``, '`/metrics`', 'meaning'], [...plain, ...labelled]);
}

const EXAMPLES = [
  { shards: 1, workers: 1 },
  { shards: 10, workers: 2 },
  { shards: 100, workers: 10 },
  { shards: 1_000, workers: 50 },
  { shards: 10_000, workers: 200 },
];

function leaseTable(): string {
  const leaseSeconds = 10;
  const rows = EXAMPLES.map(({ shards, workers }) => {
    const size = leaseTableSize({ shards, workers, leaseSeconds });
    const kcl = kclWrites({ shards, leaseSeconds }, 1);
    return [
      `${count(shards)} / ${workers}`,
      rounded(size.steadyWrites),
      count(size.writeMinimum),
      count(size.readMinimum),
      count(size.indexWrite),
      `${rounded(size.scanSeconds)} s`,
      rounded(kcl),
    ];
  });
  const head = [
    'leases / workers',
    'writes a second',
    'WCU',
    'RCU',
    'WCU of the index',
    'scan every',
    'KCL’s writes a second',
  ];
  return table(head, rows);
}

const count = (value: number) => value.toLocaleString('en-US');
const rounded = (value: number) => (value < 10 ? String(Math.round(value * 10) / 10) : count(Math.round(value)));
