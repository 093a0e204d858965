/** The type and the name in a resource's URN. */

export interface Named {
  /** Without an API version. */
  readonly token: string;
  readonly name: string;
}

export function named(urn: string): Named {
  const [, , types = '', name = ''] = urn.split('::');
  return { token: (types.split('$').at(-1) ?? '').replace(/\/v\d{8}[a-z]*:/, ':'), name };
}
