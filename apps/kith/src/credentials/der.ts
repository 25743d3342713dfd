/** Writes the parts of DER (ITU-T X.690) that a certificate needs. Node can read certificates, but cannot write them. */

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const bytes =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  if (length > 0xffff)
    throw new RangeError(`DER: a value of ${length} bytes is not supported; the maximum is 65535.`);
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
  // If the first bit were set, the number would be negative. So a zero byte is put in front.
  return tagged(0x02, (short[0] ?? 0) < 0x80 ? short : Buffer.concat([Buffer.from([0]), short]));
}

/** A string of bits. The last `unused` bits of `content` only fill up the last byte, and do not belong to the string. */
export const bits = (content: Buffer, unused = 0) =>
  tagged(0x03, Buffer.concat([Buffer.from([unused]), content]));

/**
 * A value with the tag `[number]`. `explicit` is for content that consists of complete values, with tags of their own;
 * `implicit` is for content without a tag.
 */
export const explicit = (number: number, content: Buffer) => tagged(0xa0 | number, content);
export const implicit = (number: number, content: Buffer) => tagged(0x80 | number, content);

/** An object identifier, from a text such as `2.5.4.3`. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...others] = text.split('.').map(Number);
  const bytes = [40 * first + second, ...others].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let rest = arc >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80);
    return groups;
  });
  return tagged(0x06, Buffer.from(bytes));
}

/** A time to the second. Up to 2049 the year has two digits, as RFC 5280 (4.1.2.5) requires. */
export function time(at: Date): Buffer {
  const text = at.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(text.slice(2)))
    : tagged(0x18, Buffer.from(text));
}
