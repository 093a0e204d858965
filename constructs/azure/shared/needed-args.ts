/** Arguments that nothing works without: types ask for them, but a program can be plain JavaScript or have a `!` too many. */
import * as pulumi from '@pulumi/pulumi';
import type { ComponentArgs } from './component-args';
import { found, shown, type WrongArg } from './wrong-args';

/** What is wrong with an argument that is not given, or is empty. */
export function wrongWhenMissing(prop: string, value: unknown, allowed: string, wayOut: string): WrongArg | undefined {
  if (value !== undefined && value !== null && value !== '') return undefined;
  return { prop, received: value === null ? 'null' : shown(value), allowed, wayOut };
}

/** What is wrong with the arguments that every component takes. */
export function wrongCommon(args: (Partial<ComponentArgs> & { readonly protect?: unknown }) | undefined): WrongArg[] {
  return found([wrongResourceGroup(args), wrongTags(args?.tags), wrongFlag('protect', args?.protect)]);
}

/** What is wrong with a yes or no: a text is one that is always yes. */
export function wrongFlag(prop: string, value: unknown): WrongArg | undefined {
  if (value === undefined || typeof value === 'boolean') return undefined;
  return {
    prop,
    received: shown(value),
    allowed: 'true or false',
    wayOut: 'Write it without quotes, or leave it out.',
  };
}

function wrongTags(tags: unknown): WrongArg | undefined {
  if (tags === undefined || pulumi.Output.isInstance(tags) || tags instanceof Promise) return undefined;
  if (typeof tags === 'object' && tags !== null && !Array.isArray(tags)) return undefined;
  const received = Array.isArray(tags) ? 'a list' : shown(tags);
  return {
    prop: 'tags',
    received,
    allowed: "an object, as in { team: 'billing' }",
    wayOut: 'Write each as name and value.',
  };
}

function wrongResourceGroup(args: Partial<ComponentArgs> | undefined): WrongArg | undefined {
  const given: unknown = args?.resourceGroupName;
  const wrong = { prop: 'resourceGroupName', allowed: 'the name of a resource group' };
  const wayOut =
    'Everything is made in it. Give the name of one that exists, or the `name` of a ResourceGroup of the program.';
  if (pulumi.Resource.isInstance(given)) {
    return { ...wrong, received: 'a resource', wayOut: 'Give its name: `resourceGroup.name`.' };
  }
  if (typeof given === 'string' && given.includes('/')) {
    return { ...wrong, received: shown(given), wayOut: 'Give its name alone, which is the end of its id.' };
  }
  return wrongWhenMissing(wrong.prop, given, wrong.allowed, wayOut);
}
