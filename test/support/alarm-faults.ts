/** Why an alarm would never fire, or would go off without a cause, judged from synthesized templates alone. */

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
/** Templates by stack; values that one stack imports from another are looked up there. */
export type Templates = Readonly<Record<string, { readonly Resources: Readonly<Record<string, Resource>> }>>;

interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}
interface AlarmProperties extends Partial<Metric> {
  readonly Metrics?: readonly { readonly MetricStat?: { readonly Metric: Metric } }[];
  readonly TreatMissingData?: string;
}
interface Output {
  readonly Value: unknown;
  readonly Export?: { readonly Name: unknown };
}

/**
 * `given`: names that are no resource of these templates, such as those of imported parts and of the service.
 * Answers a line for each fault: `stack/id: what`.
 */
export function alarmFaults(templates: Templates, given: readonly string[]): string[] {
  return Object.entries(templates).flatMap(([stack, { Resources }]) =>
    Object.entries(Resources)
      .filter(([, { Type }]) => Type === 'AWS::CloudWatch::Alarm')
      .flatMap(([id, { Properties }]) =>
        faultsOf((Properties ?? {}) as AlarmProperties, stack, templates, given).map(
          (fault) => `${stack}/${id}: ${fault}`,
        ),
      ),
  );
}

function faultsOf(alarm: AlarmProperties, stack: string, templates: Templates, given: readonly string[]): string[] {
  const metrics = [
    ...(alarm.MetricName ? [alarm as Metric] : []),
    ...(alarm.Metrics ?? []).flatMap((m) => m.MetricStat?.Metric ?? []),
  ];
  const dimensions = metrics.flatMap(({ MetricName, Dimensions = [] }) => [
    ...(Dimensions.length === 0 ? [`${MetricName} has no dimension`] : []),
    ...Dimensions.filter(({ Value }) => !names(Value, stack, templates, given)).map(
      ({ Name, Value }) => `${MetricName}: ${Name} is ${JSON.stringify(Value)}, which names nothing`,
    ),
  ]);
  return [
    ...(metrics.length === 0 ? ['watches no metric'] : []),
    ...(alarm.TreatMissingData === undefined ? ['does not say what no data means'] : []),
    ...dimensions,
  ];
}

/** Whether the value is the name of a resource of these templates, or one that was given. */
function names(value: unknown, stack: string, templates: Templates, given: readonly string[]): boolean {
  if (typeof value === 'string') return given.includes(value);
  if (typeof value !== 'object' || value === null) return false;
  const resources = templates[stack]?.Resources ?? {};
  const parameters = (templates[stack] as { Parameters?: object } | undefined)?.Parameters ?? {};
  if ('Ref' in value)
    return Object.hasOwn(resources, String(value.Ref)) || Object.hasOwn(parameters, String(value.Ref));
  if ('Fn::GetAtt' in value) return Object.hasOwn(resources, (value['Fn::GetAtt'] as string[])[0] ?? '');
  if ('Fn::ImportValue' in value) return exported(value['Fn::ImportValue'], templates, given);
  // A part of an imported ARN: of what was given, or of a parameter.
  if ('Fn::Select' in value)
    return JSON.stringify(value).includes('"Ref"') && names(refIn(value), stack, templates, given);
  return false;
}

function refIn(value: object): unknown {
  const [, ref] = /\{"Ref":"([^"]+)"\}/.exec(JSON.stringify(value)) ?? [];
  return { Ref: ref };
}

function exported(name: unknown, templates: Templates, given: readonly string[]): boolean {
  return Object.entries(templates).some(([stack, template]) => {
    const outputs = (template as { Outputs?: Readonly<Record<string, Output>> }).Outputs ?? {};
    const output = Object.values(outputs).find((each) => each.Export?.Name === name);
    return output !== undefined && names(output.Value, stack, templates, given);
  });
}
