import * as authorization from '@pulumi/azure-native/authorization';
import * as pulumi from '@pulumi/pulumi';
import { nameUuid } from './name-uuid';
import { ROLES, type RoleName, roleDefinitionId } from './roles';
import { refuseWrongArgs, shown, type WrongArg } from './wrong-args';

export interface RoleAssignmentArgs {
  /** What may be used: the id of the resource, as narrow as the role allows. */
  readonly scope: pulumi.Input<string>;
  /** Object id of the managed identity or service principal. For an identity: its `principalId`, never its `clientId`. */
  readonly principalId: pulumi.Input<string>;
  readonly role: RoleName;
}

/**
 * Lets an identity use one resource.
 *
 * The principal's type is always said: without it Azure looks the principal up, does not find one that was made
 * seconds ago and refuses. The assignment's own name follows from scope, role and principal, because names are unique in
 * a whole tenant and a replacement must not meet its predecessor's.
 *
 * @param childName name of the resource in the program; static, since a principal's id may be known at deploy only
 */
export function assignRole(
  parent: pulumi.Resource,
  childName: string,
  { scope, principalId, role }: RoleAssignmentArgs,
  options: pulumi.CustomResourceOptions = {},
): authorization.RoleAssignment {
  refuseWrongArgs('RoleAssignment', childName, [wrongPrincipal(principalId)]);
  return new authorization.RoleAssignment(
    childName,
    {
      scope,
      principalId,
      principalType: authorization.PrincipalType.ServicePrincipal,
      roleDefinitionId: roleDefinitionId(role),
      roleAssignmentName: pulumi
        .all([scope, principalId] as pulumi.Input<string | undefined>[])
        // Azure always says who an identity is; the mocks of a unit test seldom do.
        .apply(([at, whom]) => nameUuid(at?.toLowerCase() ?? '', whom?.toLowerCase() ?? '', ROLES[role])),
    },
    { ...options, parent },
  );
}

/** Outputs are known at deploy only, and then Azure judges them. */
function wrongPrincipal(principalId: unknown): WrongArg | undefined {
  if (pulumi.Output.isInstance(principalId) || principalId instanceof Promise) return undefined;
  if (typeof principalId === 'string' && UUID.test(principalId)) return undefined;
  const received = pulumi.Resource.isInstance(principalId) ? 'a resource' : shown(principalId);
  const wayOut =
    'Give the `principalId` of a managed identity. Before it comes the name that the role assignment has in the program.';
  return { prop: 'principalId', received, allowed: 'the object id of an identity, a UUID', wayOut };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
