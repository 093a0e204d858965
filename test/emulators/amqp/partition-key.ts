/**
 * Which partition a key belongs to: Bob Jenkins' lookup3 (hashlittle2) over the key's bytes, its two words xored, as a
 * signed 16-bit number. The same as the service's and as the buffered producer's of Microsoft's client.
 */
export function partitionOfKey(key: string, partitions: number): number {
  const { b, c } = hashlittle2(Buffer.from(key, 'utf8'));
  return Math.abs((((c ^ b) << 16) >> 16) % partitions);
}

const rotate = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits));

interface Words {
  a: number;
  b: number;
  c: number;
}

function mix(w: Words): void {
  w.a = (w.a - w.c) ^ rotate(w.c, 4);
  w.c = (w.c + w.b) | 0;
  w.b = (w.b - w.a) ^ rotate(w.a, 6);
  w.a = (w.a + w.c) | 0;
  w.c = (w.c - w.b) ^ rotate(w.b, 8);
  w.b = (w.b + w.a) | 0;
  w.a = (w.a - w.c) ^ rotate(w.c, 16);
  w.c = (w.c + w.b) | 0;
  w.b = (w.b - w.a) ^ rotate(w.a, 19);
  w.a = (w.a + w.c) | 0;
  w.c = (w.c - w.b) ^ rotate(w.b, 4);
  w.b = (w.b + w.a) | 0;
}

function finish(w: Words): void {
  w.c = ((w.c ^ w.b) - rotate(w.b, 14)) | 0;
  w.a = ((w.a ^ w.c) - rotate(w.c, 11)) | 0;
  w.b = ((w.b ^ w.a) - rotate(w.a, 25)) | 0;
  w.c = ((w.c ^ w.b) - rotate(w.b, 16)) | 0;
  w.a = ((w.a ^ w.c) - rotate(w.c, 4)) | 0;
  w.b = ((w.b ^ w.a) - rotate(w.a, 14)) | 0;
  w.c = ((w.c ^ w.b) - rotate(w.b, 24)) | 0;
}

function hashlittle2(key: Buffer): { b: number; c: number } {
  const start = (0xdeadbeef + key.length) | 0;
  const words = { a: start, b: start, c: start };
  let at = 0;
  const add = (block: Buffer) => {
    words.a = (words.a + block.readInt32LE(0)) | 0;
    words.b = (words.b + block.readInt32LE(4)) | 0;
    words.c = (words.c + block.readInt32LE(8)) | 0;
  };
  for (; key.length - at > 12; at += 12) {
    add(key.subarray(at, at + 12));
    mix(words);
  }
  if (key.length > at) {
    const rest = Buffer.alloc(12);
    key.copy(rest, 0, at);
    add(rest);
    finish(words);
  }
  return words;
}
