import { CfnResource } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Whether the app makes this resource. An imported one is a reference: its policies and rules are made elsewhere. */
export function isMadeHere(resource: IConstruct): boolean {
  return resourceOf(resource) !== undefined;
}

/** What CloudFormation is told of a resource that the app makes. */
export function resourceOf(resource: IConstruct): CfnResource | undefined {
  const child = resource.node.defaultChild;
  return child !== undefined && CfnResource.isCfnResource(child) ? child : undefined;
}
