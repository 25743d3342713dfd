const numberBytes = 32;

/**
 * Writes the two numbers of an ECDSA signature (DER) with all their leading zeros. The library that verifies the signature
 * expects each number at a fixed place. Returns any other text unchanged.
 */
export function evenSignature(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes[0] !== 0x30) return signature;
  const r = numberAt(bytes, 2);
  const s = r && numberAt(bytes, r.end);
  if (!r || !s || s.end !== bytes.length) return signature;
  const body = Buffer.concat([r, s].flatMap(({ number }) => [head, number]));
  return Buffer.concat([Buffer.from([0x30, body.length]), body]).toString('base64url');
}

/**
 * The bytes in front of each number: the DER type, the length, and a zero byte that keeps the number positive. The length is
 * `numberBytes` + 1, because it includes the zero byte.
 */
const head = Buffer.from([0x02, numberBytes + 1, 0]);

function numberAt(bytes: Buffer, at: number): { number: Buffer; end: number } | undefined {
  const length = bytes[at + 1] ?? 0;
  const end = at + 2 + length;
  if (bytes[at] !== 0x02 || length === 0 || end > bytes.length) return undefined;
  const given = bytes.subarray(at + 2, end);
  const number = given[0] === 0 ? given.subarray(1) : given;
  if (number.length > numberBytes) return undefined;
  return { number: Buffer.concat([Buffer.alloc(numberBytes - number.length), number]), end };
}
