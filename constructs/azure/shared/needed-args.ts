/** Arguments that nothing works without: types ask for them, but a program can be plain JavaScript or have a `!` too many. */
import type { ComponentArgs } from './component-args';
import { shown, type WrongArg } from './wrong-args';

/** What is wrong with an argument that is not given, or is empty. */
export function wrongWhenMissing(prop: string, value: unknown, allowed: string, wayOut: string): WrongArg | undefined {
  if (value !== undefined && value !== null && value !== '') return undefined;
  return { prop, received: value === null ? 'null' : shown(value), allowed, wayOut };
}

/** What is wrong with the resource group of a component. */
export function wrongResourceGroup(args: Partial<ComponentArgs> | undefined): WrongArg | undefined {
  return wrongWhenMissing(
    'resourceGroupName',
    args?.resourceGroupName,
    'the name of a resource group',
    'Everything is made in it. Give the name of one that exists, or the `name` of a ResourceGroup of the program.',
  );
}
