import { expect, it } from 'vitest';
import { createDecoder, FIELD_NAMES } from '../../../runtime/decode';

it('every field can be mapped', () => {
  const fields = Object.fromEntries(FIELD_NAMES.map((name) => [name, `/their/${name}`]));
  expect(() => createDecoder({ defaultCurrency: 'usd', fields })).not.toThrow();
});
