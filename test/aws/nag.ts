/** AWS Solutions' rules, and what of their findings was reviewed and stays. */
import type { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import type { Finding, Reviewed } from '../support/reviewed';

export const ACKNOWLEDGED: readonly Reviewed[] = [
  {
    rule: 'AwsSolutions-ECS2',
    where: /\/Consumer\/(\w+\/)?Task\/Resource$/,
    reason: 'The settings in the environment are no secrets; those come from Secrets Manager.',
  },
  {
    rule: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonRDSEnhancedMonitoringRole]',
    where: /\/Ledger\/Resource\/MonitoringRole\/Resource$/,
    // An exact policy would name the log stream, which is the id of a database that does not exist yet.
    reason: 'RDS refuses a monitoring role that may not write already when the database is created.',
  },
  {
    rule: 'AwsSolutions-IAM5[Resource::*]',
    where: /\/ExecutionRole\/DefaultPolicy\/Resource$/,
    reason: 'ecr:GetAuthorizationToken is no action on a resource: AWS allows it on * only.',
  },
  {
    rule: 'AwsSolutions-RDS11',
    where: /\/Ledger\/Resource\/Resource$/,
    reason: 'Another port hides nothing: the database is reachable from the consumer’s security group only.',
  },
  {
    rule: 'AwsSolutions-KDS3',
    where: /^Sized\/Stream\/Resource\/Resource$/,
    reason: 'The key of AWS cannot be used from another account, so whoever needs that gives one of their own.',
  },
];

/** Of an app that was synthesized: the rules read the prepared tree. */
export function findingsIn(app: App): Finding[] {
  return new AwsSolutionsChecks(app)
    .validateScope(app)
    .violations.flatMap(({ ruleName, description, violatingResources }) =>
      violatingResources.map((resource) => ({
        rule: ruleName,
        where: resource.constructPath ?? '?',
        what: description,
      })),
    );
}

/** @throws when nobody has acknowledged it */
export function reasonFor(rule: string, where: string): string {
  const row = ACKNOWLEDGED.find((each) => each.rule === rule && each.where.test(where));
  if (row === undefined) throw new Error(`${rule} at ${where} is not acknowledged`);
  return row.reason;
}

export function constructAt(app: App, path: string): IConstruct {
  return path.split('/').reduce<IConstruct>((scope, id) => scope.node.findChild(id), app);
}
