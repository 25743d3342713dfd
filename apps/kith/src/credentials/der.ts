/** Writes DER (ITU-T X.690), as much of it as a certificate needs. Node reads certificates and has nothing that writes them. */

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const bytes =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  if (length > 0xffff) throw new RangeError(`DER: ${length} bytes are more than are written here.`);
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

export const sequence = (...parts: readonly Buffer[]) => tagged(0x30, Buffer.concat(parts));
export const set = (...parts: readonly Buffer[]) => tagged(0x31, Buffer.concat(parts));
export const octets = (content: Buffer) => tagged(0x04, content);
export const utf8 = (text: string) => tagged(0x0c, Buffer.from(text));
export const yes = tagged(0x01, Buffer.from([0xff]));

/** A non-negative whole number of any length, from its bytes. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const short = first === -1 ? Buffer.from([0]) : bytes.subarray(first);
  // If the first bit were set, the number would be negative.
  return tagged(0x02, (short[0] ?? 0) < 0x80 ? short : Buffer.concat([Buffer.from([0]), short]));
}

/** Bits, the last `unused` of which do not count. */
export const bits = (content: Buffer, unused = 0) =>
  tagged(0x03, Buffer.concat([Buffer.from([unused]), content]));

/** `[number]`, around other values or with content of its own. */
export const explicit = (number: number, content: Buffer) => tagged(0xa0 | number, content);
export const implicit = (number: number, content: Buffer) => tagged(0x80 | number, content);

/** An object identifier, written with points. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...others] = text.split('.').map(Number);
  const bytes = [40 * first + second, ...others].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let rest = arc >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80);
    return groups;
  });
  return tagged(0x06, Buffer.from(bytes));
}

/** A time to the second: with two digits for the year up to 2049, as RFC 5280 (4.1.2.5) wants it. */
export function time(at: Date): Buffer {
  const text = at.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(text.slice(2)))
    : tagged(0x18, Buffer.from(text));
}
