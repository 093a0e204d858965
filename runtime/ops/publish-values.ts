/** Values of flags. */

/** A flag that was given and is not empty. */
export function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function whole(value: string | boolean | undefined, min: number, max: number): number | undefined | 'wrong' {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const number = Number(text);
  return /^\d{1,9}$/.test(text) && number >= min && number <= max ? number : 'wrong';
}
