import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { StartError } from '@kith/base';
import { z } from 'zod';

const cipher = 'aes-256-gcm';
const chunkBytes = 64 * 1024;
const tagBytes = 16;
const longestHeader = 1024;

const header = z.object({
  format: z.literal('kith-sealed-1'),
  // These numbers have an upper limit. Otherwise, the author of a file could decide how much memory its reader needs.
  kdf: z.object({
    name: z.literal('scrypt'),
    N: z.int().max(2 ** 20),
    r: z.int().max(16),
    p: z.int().max(4),
  }),
  salt: z.string(),
});
type Header = z.output<typeof header>;
/** Trying one passphrase takes 128 MiB of memory and about half a second (RFC 7914). */
const cost: Header['kdf'] = { name: 'scrypt', N: 2 ** 17, r: 8, p: 1 };

/**
 * Seals bytes with a passphrase. Reads the bytes only as fast as the result is read. The output begins with a line of JSON that
 * says how the key is derived. Chunks of 64 KiB follow, each sealed with AES-256-GCM. A chunk's nonce holds the chunk's number,
 * and says whether the chunk is the last one. So nobody can leave out, move or cut off a chunk.
 */
export async function* sealBytes(
  plain: AsyncIterable<Uint8Array>,
  passphrase: string,
  kdf: Header['kdf'] = cost,
): AsyncGenerator<Uint8Array> {
  const head: Header = { format: 'kith-sealed-1', kdf, salt: randomBytes(16).toString('base64url') };
  const line = Buffer.from(`${JSON.stringify(head)}\n`);
  const key = await keyOf(passphrase, head);
  yield line;
  let at = 0;
  for await (const { bytes, isLast } of inChunks(plain, chunkBytes)) {
    const sealing = createCipheriv(cipher, key, nonceOf(at++, isLast)).setAAD(line);
    yield Buffer.concat([sealing.update(bytes), sealing.final(), sealing.getAuthTag()]);
  }
}

/** Opens what `sealBytes` has sealed. Throws `StartError` if the passphrase is wrong or the bytes were changed. */
export async function* openBytes(
  sealed: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Uint8Array> {
  const { line, rest } = await splitHeader(sealed);
  const key = await keyOf(passphrase, parseHeader(line));
  let at = 0;
  for await (const { bytes, isLast } of inChunks(rest, chunkBytes + tagBytes)) {
    const end = Math.max(bytes.length - tagBytes, 0);
    const opening = createDecipheriv(cipher, key, nonceOf(at, isLast), { authTagLength: tagBytes });
    try {
      opening.setAAD(line).setAuthTag(bytes.subarray(end));
      yield Buffer.concat([opening.update(bytes.subarray(0, end)), opening.final()]);
    } catch (error) {
      const sentence = at === 0 ? 'The passphrase is wrong, or the backup was changed.' : damaged;
      throw new StartError(sentence, { cause: error });
    }
    at++;
  }
}

const damaged = 'The sealed backup is damaged or incomplete.';

function keyOf(passphrase: string, { kdf: { N, r, p }, salt }: Header): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const how = { N, r, p, maxmem: 256 * N * r };
    scrypt(passphrase.normalize('NFKC'), Buffer.from(salt, 'base64url'), 32, how, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

function nonceOf(at: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(at));
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Splits bytes into pieces of one size. There is always a last piece, which may be shorter or empty. */
async function* inChunks(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of source) {
    held = Buffer.concat([held, piece]);
    // Holds back a full piece, because it may be the last piece.
    for (; held.length > size; held = held.subarray(size))
      yield { bytes: held.subarray(0, size), isLast: false };
  }
  yield { bytes: held, isLast: true };
}

async function splitHeader(
  sealed: AsyncIterable<Uint8Array>,
): Promise<{ line: Buffer; rest: AsyncGenerator<Uint8Array> }> {
  const pieces = sealed[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  while (!held.includes(10) && held.length < longestHeader) {
    const { value, done } = await pieces.next();
    if (done) break;
    held = Buffer.concat([held, value]);
  }
  const end = held.indexOf(10) + 1;
  const rest = async function* () {
    try {
      yield held.subarray(end);
      for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
    } finally {
      // Closes the source, even if the reader stops before the end of the source.
      await pieces.return?.();
    }
  };
  return { line: held.subarray(0, end), rest: rest() };
}

function parseHeader(line: Buffer): Header {
  try {
    return header.parse(JSON.parse(line.toString()));
  } catch (error) {
    throw new StartError('The sealed backup cannot be read by this version of Kith.', { cause: error });
  }
}
