/** Lock tokens: a delivery tag of 16 bytes in the order of a .NET Guid, which clients print as a UUID. */

export function tokenOf(tag: Buffer): string {
  const [a, b, c] = [tag.subarray(0, 4), tag.subarray(4, 6), tag.subarray(6, 8)].map((part) =>
    Buffer.from(part).reverse(),
  );
  return format(Buffer.concat([a!, b!, c!, tag.subarray(8)]));
}

/** The same of a UUID that came or goes as one. */
export function format(uuid: Buffer): string {
  return uuid.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
