/**
 * The emulator keeps what it is told, and the readers read what it keeps: a template in which almost every value is
 * another is deployed as that one. A property that the emulator drops, or answers by heart, would be found here.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { billingApp } from '../../stacks/aws/app';
import { type Assembly, assemble, type Deployment, startDeployment } from './deployment';
import { misfits } from './read-back/expect-deployed';
import type { Json, JsonObject } from './read-back/reading';

/** What must stay a word that the services know, or the name of something else in the template. */
const WORDS = new Set([
  ...['Action', 'AlarmRule', 'AssignPublicIp', 'AttributeName', 'AttributeType', 'BillingMode', 'CidrBlock', 'CidrIp'],
  ...['ComparisonOperator', 'DashboardBody', 'DBName', 'DestinationCidrBlock', 'Domain', 'Effect', 'EncryptionType'],
  ...['Engine', 'EngineVersion', 'Family', 'IndexName', 'IpProtocol', 'Key', 'KeyType', 'LaunchType', 'LogDriver'],
  ...['LogDestinationType', 'ManageMasterUserPassword', 'MasterUsername', 'NetworkMode', 'PolicyName', 'Region'],
  ...['RequiresCompatibilities', 'ResourceType', 'Service', 'Statistic', 'StorageEncrypted', 'StreamMode', 'Version'],
  ...['VpcEndpointType'],
]);

interface Template {
  readonly Resources: Readonly<Record<string, { Properties?: JsonObject }>>;
}

/** Another value of the same kind; references stay. Counts how many there are. */
function altered(value: Json, name: string, count: () => void): Json {
  if (WORDS.has(name)) return value;
  if (Array.isArray(value)) return value.map((each: Json) => altered(each, name, count));
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value);
    const [[first] = ['']] = entries;
    if (entries.length === 1 && /^(Ref|Fn::.*)$/.test(first)) return value;
    return Object.fromEntries(entries.map(([key, each]) => [key, altered(each, key, count)]));
  }
  count();
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  return /^\d+$/.test(String(value)) ? String(Number(value) + 1) : `${value}x`;
}

describe('a template with other values', () => {
  let assembly: Assembly;
  let deployment: Deployment;
  let alterations = 0;

  beforeAll(async () => {
    assembly = assemble(billingApp);
    const file = join(assembly.folder, 'Billing.template.json');
    const template = JSON.parse(readFileSync(file, 'utf8')) as Template;
    const count = () => {
      alterations += 1;
    };
    for (const resource of Object.values(template.Resources)) {
      if (resource.Properties) resource.Properties = altered(resource.Properties, '', count) as JsonObject;
    }
    writeFileSync(file, JSON.stringify(template));
    deployment = await startDeployment();
    await deployment.deploy(assembly);
  }, 180_000);

  afterAll(async () => {
    await deployment?.close();
    assembly?.remove();
  });

  it('is read back with those values, of every type', async () => {
    const stack = await deployment.stack('Billing');
    const found = await Promise.all(assembly.types.map((type) => misfits([stack], type)));
    expect(found.flat()).toEqual([]);
    expect(alterations).toBeGreaterThan(300);
  });
});
