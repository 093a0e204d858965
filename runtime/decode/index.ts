/** Bytes → event or reason. The only place that trusts nothing. */
export {
  createDecoder,
  DEFAULT_MAX_EVENT_BYTES,
  type Decode,
  type Decoded,
  type DecodedEvent,
  type DecoderOptions,
  LARGEST_MAX_EVENT_BYTES,
} from './create-decoder';
export { type Currency, currencyCodes, findCurrency } from './currencies';
export { FIELD_NAMES, type FieldName, type FieldPointers, parsePointer } from './fields';
export { checkDescriptionTemplate, DEFAULT_DESCRIPTION_TEMPLATE, renderDescription } from './render-description';
