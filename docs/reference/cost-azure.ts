/** What the default stack on Azure costs a month, computed from list prices that nobody has looked up for it. */
import { checkpointRequests } from './checkpoint-requests';
import { azureResources } from './default-stack-azure';
import { table } from './table';

const HOURS = 730;
const SECONDS = HOURS * 3600;
const REPLICAS = 2;
const CPU = 0.5;
const MEMORY = 1;
const PARTITIONS = 4;
/** What the example sends, in millions: each of them a checkpoint of its own, at worst. */
const EVENTS = 1;
const LOGS_GB = 3;
/** Values of dimensions beyond the first that rules look at: a name more for each of the hub's four, three answers. */
const MORE_SERIES = 4 + 3;

/** US dollars in East US. */
const PRICES = {
  serverHour: 0.178,
  serverStorage: 0.115,
  throughputUnitHour: 0.03,
  millionEvents: 0.028,
  cpuSecond: 0.000024,
  memorySecond: 0.000003,
  natHour: 0.045,
  addressHour: 0.005,
  tenThousandLists: 0.0625,
  tenThousandOthers: 0.004,
  logAlert: 1.5,
  metricSeries: 0.1,
  logsIn: 2.3,
  zone: 0.5,
  registry: 5,
} as const;

interface Line {
  readonly what: string;
  readonly how: string;
  readonly dollars: number;
  readonly page: string;
  readonly knob: string;
}

const page = (name: string, path: string) => `[${name}](https://azure.microsoft.com/pricing/details/${path}/)`;

function lines(): readonly Line[] {
  return [...ledger(), ...messaging(), ...compute(), ...monitoring()];
}

function ledger(): Line[] {
  const { serverHour, serverStorage } = PRICES;
  return [
    {
      what: 'Ledger: two Standard_D2ds_v5, zone redundant',
      how: `2 × ${HOURS} h × $${serverHour}`,
      dollars: 2 * HOURS * serverHour,
      page: page('PostgreSQL', 'postgresql/flexible-server'),
      knob: "`highAvailability: 'off'` halves it, and billing waits for a repair when a zone fails; `skuName`, also `Standard_B2s`",
    },
    {
      what: 'Ledger: 32 GiB, twice',
      how: `2 × 32 GiB × $${serverStorage}`,
      dollars: 2 * 32 * serverStorage,
      page: page('PostgreSQL', 'postgresql/flexible-server'),
      knob: 'it grows by itself, and never shrinks',
    },
  ];
}

function messaging(): Line[] {
  const p = PRICES;
  const { lists, renewals } = checkpointRequests(PARTITIONS, REPLICAS);
  const listed = (lists * SECONDS) / 1e6;
  const others = (renewals * SECONDS) / 1e6 + 3 * EVENTS;
  return [
    {
      what: 'Event Hubs, Standard, one throughput unit',
      how: `${HOURS} h × $${p.throughputUnitHour} + ${EVENTS} M events × $${p.millionEvents}`,
      dollars: HOURS * p.throughputUnitHour + EVENTS * p.millionEvents,
      page: page('Event Hubs', 'event-hubs'),
      knob: '`capacity`; one that has grown stays so until you lower it',
    },
    {
      what: 'Checkpoints',
      how: `${listed.toFixed(2)} M lists × $${p.tenThousandLists} + ${others.toFixed(2)} M others × $${p.tenThousandOthers}, for 10,000`,
      dollars: listed * 100 * p.tenThousandLists + others * 100 * p.tenThousandOthers,
      page: page('Blob Storage', 'storage/blobs'),
      knob: '`EVENTHUB_OWNERSHIP_MS` and `CHECKPOINT_MODE` in `environment`',
    },
  ];
}

function compute(): Line[] {
  const { cpuSecond, memorySecond, natHour, addressHour, zone, registry } = PRICES;
  return [
    {
      what: `${REPLICAS} replicas, ${CPU} cores and ${MEMORY} GiB`,
      how: `${REPLICAS} × ${(SECONDS / 1e6).toFixed(2)} M s × (${CPU} × $${cpuSecond.toFixed(6)} + ${MEMORY} × $${memorySecond.toFixed(6)})`,
      dollars: REPLICAS * SECONDS * (CPU * cpuSecond + MEMORY * memorySecond),
      page: page('Container Apps', 'container-apps'),
      knob: '`minReplicas`, `cpu`; replicas that Azure finds idle are cheaper',
    },
    {
      what: 'NAT gateway and its address',
      how: `${HOURS} h × ($${natHour} + $${addressHour}), and $0.045 a GB`,
      dollars: HOURS * (natHour + addressHour),
      page: page('Virtual Network', 'virtual-network'),
      knob: '`network`: your own, with the way out that it has',
    },
    {
      what: 'Private DNS zone, registry (Basic)',
      how: `$${zone.toFixed(2)} + $${registry.toFixed(2)}`,
      dollars: zone + registry,
      page: page('DNS', 'dns'),
      knob: 'a registry that you have',
    },
  ];
}

function monitoring(): Line[] {
  const { logAlert, metricSeries, logsIn } = PRICES;
  const logAlerts = azureResources('monitor:ScheduledQueryRule');
  const series = azureResources('monitor:MetricAlert') + MORE_SERIES;
  return [
    {
      what: 'Alerts',
      how: `${logAlerts} on logs, every 5 minutes, × $${logAlert.toFixed(2)} + ${series} series of metrics × $${metricSeries.toFixed(2)}`,
      dollars: logAlerts * logAlert + series * metricSeries,
      page: page('Azure Monitor', 'monitor'),
      knob: '`disable`',
    },
    {
      what: 'Logs',
      how: `${LOGS_GB} GB × $${logsIn.toFixed(2)}, an assumption: a line of metrics a minute, logs of the hub and of the server`,
      dollars: LOGS_GB * logsIn,
      page: page('Azure Monitor', 'monitor'),
      knob: '`LOG_LEVEL` in `environment`, `logRetentionDays`',
    },
  ];
}

/** The second table of docs/cost.md. */
export function azureCostTable(): string {
  const all = lines();
  const total = all.reduce((sum, { dollars }) => sum + dollars, 0);
  const rows = all.map(({ what, how, dollars, page: source, knob }) => [what, how, money(dollars), source, knob]);
  const head = ['part', 'computed as', 'a month', 'price page', 'knob'];
  return table(head, [...rows, ['**Sum**', '', `**${money(total)}**`, '', '']]);
}

const money = (dollars: number) => `$${dollars.toFixed(2)}`;
