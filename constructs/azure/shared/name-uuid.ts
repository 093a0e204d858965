import { createHash } from 'node:crypto';

/** Namespace of every id the components derive; never changed, or each role assignment would be made anew. */
const NAMESPACE = Buffer.from('5f0c5b0e6f4b4c1f9d0a7f6e2b1c8d43', 'hex');
const BYTES = 16;

/** A UUID of version 5 (RFC 9562): the same for the same words, on every machine and in every run. */
export function nameUuid(...words: readonly string[]): string {
  // JSON keeps ('a', 'bc') and ('ab', 'c') apart.
  const hash = createHash('sha1').update(NAMESPACE).update(JSON.stringify(words)).digest().subarray(0, BYTES);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
