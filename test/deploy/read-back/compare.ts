/** Compares what a template says with what a service says. */
import type { Json, JsonObject, Reader, Reading } from './reading';

/** What differs, in words; nothing when the resource is what the template says. */
export function differences(expected: JsonObject, { properties }: Reading, notKept: Reader['notKept'] = {}): string[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    if (name in notKept) return [];
    if (!(name in properties)) return [`${name} is not read back`];
    if (name === 'Tags') return compare(name, byKey(value), byKey(properties[name]));
    return compare(name, value, properties[name]);
  });
}

/** Lists must be equal; an object may say more than the template, since services add their defaults. */
function compare(path: string, expected: Json, actual: Json): string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [differs(path, expected, actual)];
    if (actual.length !== expected.length) return [differs(path, expected, actual)];
    return expected.flatMap((each: Json, index: number) => compare(`${path}[${index}]`, each, actual[index]));
  }
  if (expected !== null && typeof expected === 'object') {
    if (actual === null || typeof actual !== 'object') return [differs(path, expected, actual)];
    return Object.entries(expected).flatMap(([key, each]) =>
      compare(`${path}.${key}`, each, (actual as JsonObject)[key]),
    );
  }
  // Templates write numbers as text now and then.
  return String(expected) === String(actual) ? [] : [differs(path, expected, actual)];
}

const differs = (path: string, expected: Json, actual: Json) =>
  `${path} is ${JSON.stringify(actual)}, the template says ${JSON.stringify(expected)}`;

function byKey(value: Json): Json {
  if (!Array.isArray(value)) return value;
  return [...value].sort((a, b) => String(a.Key).localeCompare(String(b.Key)));
}
