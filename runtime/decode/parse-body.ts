/** Bytes → one JSON object, or the reason why not. Nothing is lost on the way: numbers keep their digits. */
import { parse } from 'lossless-json';
import { JsonNumber } from './json-number';
import { reject } from './rejected';
import { showText } from './show';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A billing event is flat. The bound keeps a body of brackets from overflowing the stack. */
const MAX_DEPTH = 64;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);

/** A byte order mark is dropped: JSON allows a reader to do so, and some producers on Windows write one. */
function toText(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    if (error instanceof TypeError) reject('The body is not valid UTF-8; an event is one JSON object in UTF-8.');
    throw error;
  }
}

function checkDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') {
      depth++;
      if (depth > MAX_DEPTH)
        reject(`The body is nested more than ${MAX_DEPTH} levels deep; an event is one flat JSON object.`);
    } else if (char === '}' || char === ']') depth--;
  }
}

function parseJson(text: string): unknown {
  try {
    return parse(text, null, {
      parseNumber: (digits) => new JsonNumber(digits),
      onDuplicateKey: ({ key }) =>
        reject(`The key ${showText(key)} stands twice in one object with different values; each key may stand once.`),
    });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The library's message, without quotes: it may hold a piece of a character.
    const where = /at position (\d+)/.exec(error.message)?.[1];
    const at = where === undefined ? '' : ` (it stops making sense at character ${where})`;
    return reject(`The body is not JSON${at}; an event is one JSON object in UTF-8.`);
  }
}

/** A key that other programs on the way may take for an order to change the object itself. */
function refuseProto(value: unknown): void {
  if (Array.isArray(value)) value.forEach(refuseProto);
  if (!isJsonObject(value)) return;
  if (Object.hasOwn(value, '__proto__')) reject('The body has a key "__proto__", which no event may have.');
  for (const inner of Object.values(value)) refuseProto(inner);
}

/** Throws `Rejected` with the reason when the body is not one JSON object. */
export function parseBody(body: Uint8Array, maxBytes: number): JsonObject {
  if (body.byteLength > maxBytes) {
    reject(`The body has ${body.byteLength} bytes; at most ${maxBytes} are allowed (MAX_EVENT_BYTES).`);
  }
  const text = toText(body);
  if (text.trim() === '') reject('The body is empty; an event is one JSON object in UTF-8.');
  checkDepth(text);
  const value = parseJson(text);
  if (!isJsonObject(value)) {
    const what = Array.isArray(value) ? 'an array' : value === null ? 'null' : 'a single value';
    reject(`The body is JSON but ${what}; an event is one JSON object.`);
  }
  refuseProto(value);
  return value;
}
