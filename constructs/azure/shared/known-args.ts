/** Arguments that no component reads: a misspelt one would be a default, and some defaults are for ever. */
import { nearest } from '../../../runtime/contract/nearest';
import { shown, type WrongArg } from './wrong-args';

const FAR = 3;
/** What a program says to all of its components at once, though some have nothing to do with it. */
const COMMON = ['resourceGroupName', 'tags', 'protect', 'workspaceId'];

/**
 * What is wrong with arguments that are not among these. Types refuse them in an object literal only, not in a spread and
 * not in plain JavaScript.
 *
 * @param elsewhere by name, where an argument belongs that a neighbour has
 */
export function unknownArgs(
  args: object | undefined,
  known: Readonly<Record<string, true>>,
  elsewhere: Readonly<Record<string, string>> = {},
): WrongArg[] {
  return Object.entries({ ...args })
    .filter(([name, value]) => value !== undefined && !Object.hasOwn(known, name) && !COMMON.includes(name))
    .map(([name]) => {
      const place = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
      const meant = nearest(name, Object.keys(known), Math.min(FAR, Math.floor(name.length / 2)));
      const hint = place ?? meant;
      return {
        prop: name,
        received: 'given, and nothing reads it',
        allowed: Object.keys(known).join(', '),
        wayOut: hint === undefined ? 'Leave it out.' : `Did you mean ${hint}?`,
      };
    });
}

/** What is wrong with settings of a part that are no object, such as the name of one. */
export function wrongSettingsOf(part: string, given: unknown, component: string): WrongArg | undefined {
  if (given === undefined || (typeof given === 'object' && given !== null && !Array.isArray(given))) return undefined;
  return {
    prop: part,
    received: Array.isArray(given) ? 'a list' : given === null ? 'null' : shown(given),
    allowed: `a ${component}, or an object with what differs from its defaults`,
    wayOut: `Make the part with new ${component}(…) to give it here; for one that exists, say so there.`,
  };
}
