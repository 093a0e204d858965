import { describe, expect, it } from 'vitest';
import { type Json, readPlan, type Template } from '../../../stacks/local/sources/kinesis/template';

const task = (name: string, more: { [key: string]: Json } = {}) => ({
  Type: 'AWS::ECS::TaskDefinition',
  Properties: {
    ContainerDefinitions: [
      { Name: name, Essential: true, DependsOn: [{ ContainerName: 'migrate', Condition: 'SUCCESS' }] },
      { Name: 'migrate', Command: ['migrate'] },
    ],
    ...more,
  },
});

const template = (changes: Template['Resources'] = {}): Template => ({
  Resources: {
    Ops: task('ops'),
    Worker: task('worker'),
    Stream: { Type: 'AWS::Kinesis::Stream' },
    Table: { Type: 'AWS::DynamoDB::GlobalTable' },
    Database: { Type: 'AWS::RDS::DBInstance', Properties: { DBName: 'd', MasterUsername: 'u' } },
    Service: { Type: 'AWS::ECS::Service', Properties: { TaskDefinition: { Ref: 'Worker' } } },
    ...changes,
  },
});

describe('the plan of a template', () => {
  it('takes the task that the service runs, wherever it stands', () => {
    const { worker, migrate, desiredCount } = readPlan(template());
    expect([worker.name, migrate.command, desiredCount]).toEqual(['worker', ['migrate'], 1]);
  });

  it.each([{ Ref: 'Nowhere' }, { Ref: 'Stream' }, 'arn:aws:ecs:task', null])('refuses a service of %j', (reference) => {
    const service = { Type: 'AWS::ECS::Service', Properties: { TaskDefinition: reference } };
    expect(() => readPlan(template({ Service: service }))).toThrow(JSON.stringify(reference));
  });

  it('refuses a worker that starts without a migration', () => {
    const alone = task('worker', { ContainerDefinitions: [{ Name: 'worker', Essential: true }] });
    expect(() => readPlan(template({ Worker: alone }))).toThrow('who migrates?');
  });

  it('says how one logs in at the database', () => {
    expect(readPlan(template()).database).toMatchObject({ managedPassword: false, iamLogin: false });
    const properties = { DBName: 'd', ManageMasterUserPassword: true, EnableIAMDatabaseAuthentication: true };
    const database = { Type: 'AWS::RDS::DBInstance', Properties: properties };
    const plan = readPlan(template({ Database: database })).database;
    expect(plan).toMatchObject({ managedPassword: true, iamLogin: true });
  });
});
