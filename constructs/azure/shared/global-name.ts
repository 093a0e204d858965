import * as authorization from '@pulumi/azure-native/authorization';
import * as pulumi from '@pulumi/pulumi';
import { nameUuid } from './name-uuid';

const HASH_LENGTH = 8;

/** How a service spells its names. */
export interface NameRules {
  readonly maxLength: number;
  /** Whether the name may have hyphens inside. */
  readonly hyphens: boolean;
}

/**
 * A name that nobody else in the world has, for what Azure names globally: the component's name as far as the rules let
 * it, and a hash of subscription, resource group, project, stack and kind. So the first deploy works, a rebuilt stack
 * finds its name again, and two stages never meet, even in one resource group. It is known in a preview.
 */
export function globalName(
  parent: pulumi.Resource,
  kind: string,
  name: string,
  resourceGroupName: pulumi.Input<string>,
  rules: NameRules,
): pulumi.Output<string> {
  const { subscriptionId } = authorization.getClientConfigOutput({ parent });
  const program = [pulumi.getProject(), pulumi.getStack()] as const;
  return pulumi
    .all([subscriptionId, resourceGroupName])
    .apply(([subscription, group]) =>
      spelled(name, nameUuid(subscription, group.toLowerCase(), ...program, kind, name), rules),
    );
}

function spelled(name: string, uuid: string, { maxLength, hyphens }: NameRules): string {
  const joint = hyphens ? '-' : '';
  const hash = uuid.replaceAll('-', '').slice(0, HASH_LENGTH);
  const room = maxLength - HASH_LENGTH - joint.length;
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, joint)
    .replace(/^[^a-z]+/, '')
    .slice(0, room)
    .replace(/-$/, '');
  return `${words === '' ? 'billing' : words}${joint}${hash}`;
}
