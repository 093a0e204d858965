/**
 * Properties whose enum in `@pulumi/azure-native` is that of another type with the same name. Azure's own values stand
 * in the specification of its REST API.
 */
interface ConfusedEnum {
  readonly name: string;
  /** The property, lists as `[]`. */
  readonly path: string;
  readonly values: readonly string[];
}

const CONFUSED: readonly ConfusedEnum[] = [
  {
    // The SDK has the operators of filters in pipelines: eq, ne, lt …
    name: 'monitor.ConditionOperator',
    path: 'criteria.allOf[].operator',
    values: ['Equals', 'GreaterThan', 'GreaterThanOrEqual', 'LessThan', 'LessThanOrEqual'],
  },
  {
    // The SDK has those of another resource, in lower case.
    name: 'dbforpostgresql.PrincipalType',
    path: 'principalType',
    values: ['Unknown', 'User', 'Group', 'ServicePrincipal'],
  },
];

/** Azure's values, when the SDK's are another's. */
export function trueValues(name: string, path: string): readonly string[] | undefined {
  const place = path.replace(/\[\d+\]/g, '[]');
  return CONFUSED.find((each) => each.name === name && each.path === place)?.values;
}
