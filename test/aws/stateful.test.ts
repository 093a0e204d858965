/** An update of the package must never cost a user what is stored: these resources stay, as they are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { BillingStream } from '../../constructs/aws';
import { SHAPES, type Shape } from './shapes';
import { type FrozenTemplate, frozenOf, replacements } from './stateful';
import { FLAGS, synthesize, type Template } from './synthesis';

/** By shape, then by stack. Changed by hand only, and only with a way for those who have deployed it. */
const FROZEN = JSON.parse(readFileSync(join(__dirname, 'frozen/stateful.json'), 'utf8')) as Record<
  string,
  Record<string, FrozenTemplate>
>;

const frozen = (shape: Shape, context: Readonly<Record<string, unknown>> = {}) =>
  Object.fromEntries(
    Object.entries(synthesize(shape, { context }).templates).map(([name, template]) => [name, frozenOf(template)]),
  );

describe.each(Object.entries(SHAPES))('what %s stores', (name, shape) => {
  it.each(Object.entries(FLAGS))('stays where it is with %s', (_, context) => {
    const now = frozen(shape, context);
    const before = FROZEN[name] ?? {};
    const stacks = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    expect(stacks.flatMap((stack) => replacements(before[stack] ?? {}, now[stack] ?? {}))).toEqual([]);
  });
});

describe('the guard', () => {
  let original: Template;
  beforeAll(() => {
    original = synthesize(SHAPES.pattern).templates.Billing!;
  });
  const template = (): Template => structuredClone(original);
  const idOf = ({ Resources }: Template, type: string) => {
    const found = Object.keys(Resources).find((id) => Resources[id]!.Type === type);
    if (found === undefined) throw new Error(`there is no ${type}`);
    return found;
  };
  const when = (change: (template: Template) => void) => {
    const changed = template();
    change(changed);
    return replacements(frozenOf(original), frozenOf(changed));
  };
  const set = (type: string, properties: Record<string, unknown>) => (changed: Template) =>
    Object.assign(changed.Resources[idOf(changed, type)]!.Properties!, properties);

  it('says nothing when only what may change has changed', () => {
    expect(when(set('AWS::Kinesis::Stream', { RetentionPeriodHours: 999 }))).toEqual([]);
    expect(when(set('AWS::RDS::DBInstance', { DBInstanceClass: 'db.m7g.large' }))).toEqual([]);
  });

  it('sees that a construct has another id', () => {
    const streams = ['Stream', 'Events'].map((id) => {
      const shape: Shape = (app: App) => new BillingStream(new Stack(app, 'Data'), id);
      return frozen(shape).Data!;
    });
    const [gone, fresh] = replacements(streams[0]!, streams[1]!);
    expect(gone).toMatch(/^this replaces the user's data: AWS::Kinesis::Stream Stream\w+ is gone or has another/);
    expect(gone).toContain('Undo the change');
    expect(fresh).toMatch(/^AWS::Kinesis::Stream Events\w+ is new and not frozen yet: add {"Events/);
  });

  it('sees another key of a table', () => {
    const tables = ['leaseKey', 'shardId'].map((name) => {
      const shape: Shape = (app: App) =>
        new dynamodb.TableV2(new Stack(app, 'Data'), 'Leases', {
          partitionKey: { name, type: dynamodb.AttributeType.STRING },
        });
      return frozen(shape).Data!;
    });
    expect(replacements(tables[0]!, tables[1]!)).toEqual([
      expect.stringMatching(
        /^this replaces the user's data: AWS::DynamoDB::GlobalTable Leases\w+ is made anew when KeySchema changes: it was \[{"AttributeName":"leaseKey".* and is \[{"AttributeName":"shardId"/,
      ),
    ]);
  });

  it.each([
    ['AWS::Kinesis::Stream', { Name: 'events' }, 'Name changes: it was not set and is "events"'],
    [
      'AWS::RDS::DBInstance',
      { MasterUsername: 'root' },
      'MasterUsername changes: it was "chargeonce_owner" and is "root"',
    ],
    ['AWS::RDS::DBInstance', { DBName: 'other' }, 'DBName changes: it was "chargeonce" and is "other"'],
    ['AWS::EC2::VPC', { CidrBlock: '10.9.0.0/16' }, 'CidrBlock changes: it was "10.0.0.0/16" and is "10.9.0.0/16"'],
  ])('sees in %s %o', (type, properties, words) => {
    expect(when(set(type, properties))).toEqual([expect.stringContaining(`is made anew when ${words}`)]);
  });

  it('sees that the ledger would go with its stack', () => {
    const gone = when((changed) =>
      Object.assign(changed.Resources[idOf(changed, 'AWS::RDS::DBInstance')]!, { DeletionPolicy: 'Delete' }),
    );
    expect(gone).toEqual([expect.stringContaining('was kept as Retain,Retain and is now as Delete,Retain')]);
  });
});
