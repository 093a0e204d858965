/** Resolves a template's references to the local parts: what CloudFormation and ECS do at deploy time. */
import { type ContainerPlan, type Json, type Template, TemplateError } from './template';

export interface Scope {
  readonly template: Template;
  /** What `Ref` answers, by logical id or pseudo parameter. */
  readonly refs: Readonly<Record<string, string>>;
  /** What `Fn::GetAtt` answers, by `LogicalId.Attribute`. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Secret values by what identifies them: logical id, or name. A record has fields. */
  readonly secrets: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/** The environment in which ECS would start the container. */
export function containerEnvironment(
  plan: Pick<ContainerPlan, 'environment' | 'secrets'>,
  scope: Scope,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const { Name, Value } of plan.environment) environment[Name] = resolve(Value, scope);
  for (const { Name, ValueFrom } of plan.secrets) environment[Name] = secretValue(resolve(ValueFrom, scope), scope);
  return environment;
}

export function resolve(value: Json, scope: Scope): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    const [[name, argument] = ['', null as Json], ...rest] = Object.entries(value as { [key: string]: Json });
    if (rest.length === 0) {
      if (name === 'Ref' && typeof argument === 'string') return reference(argument, scope);
      if (name === 'Fn::GetAtt' && Array.isArray(argument)) return attribute(argument.join('.'), scope);
      if (name === 'Fn::Join' && Array.isArray(argument)) {
        const [separator, parts] = argument as [string, readonly Json[]];
        return parts.map((part) => resolve(part, scope)).join(separator);
      }
      if (name === 'Fn::Sub' && typeof argument === 'string') {
        return argument.replace(/\$\{([^}]+)\}/g, (_, inner: string) =>
          inner.includes('.') ? attribute(inner, scope) : reference(inner, scope),
        );
      }
    }
  }
  throw new TemplateError(`The local run cannot resolve ${JSON.stringify(value)}.`);
}

function reference(id: string, scope: Scope): string {
  const known = scope.refs[id];
  if (known !== undefined) return known;
  const resource = scope.template.Resources[id];
  throw new TemplateError(`The local run has no part for ${id} (${resource?.Type ?? 'not in the template'}).`);
}

function attribute(path: string, scope: Scope): string {
  const known = scope.attributes[path];
  if (known !== undefined) return known;
  throw new TemplateError(`The local run has no part for ${path}.`);
}

/** `…:secret:<name>[:<field>::]`, as ECS reads it. */
function secretValue(valueFrom: string, scope: Scope): string {
  const [, name, field] = /:secret:([^:]+)(?::([^:]*)::)?$/.exec(valueFrom) ?? [];
  const secret = name === undefined ? undefined : scope.secrets[name];
  if (secret === undefined) throw new TemplateError(`No local secret stands for ${valueFrom}.`);
  if (typeof secret === 'string') {
    if (field !== undefined && field !== '') throw new TemplateError(`The secret ${name} has no field ${field}.`);
    return secret;
  }
  const value = field === undefined ? undefined : secret[field];
  if (value === undefined) throw new TemplateError(`The secret ${name} has no field ${field ?? '(none asked)'}.`);
  return value;
}
