import { expect, it } from 'vitest';
import { FIELD_NAMES as MAPPABLE } from '../../../runtime/config/field-names';
import { createDecoder, FIELD_NAMES } from '../../../runtime/decode';

it('the configuration lets exactly the fields be mapped that the decoder reads', () => {
  expect([...MAPPABLE].sort()).toEqual([...FIELD_NAMES].sort());
  const fields = Object.fromEntries(MAPPABLE.map((name) => [name, `/their/${name}`]));
  expect(() => createDecoder({ defaultCurrency: 'usd', fields })).not.toThrow();
});
