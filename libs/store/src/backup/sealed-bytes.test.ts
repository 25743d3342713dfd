import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { packEntries, unpackEntries } from './packed-entries.ts';
import { openBytes, sealBytes } from './sealed-bytes.ts';

const passphrase = 'correct horse battery';
/** With these numbers, a key is derived more quickly than for a backup. */
const kdf = { name: 'scrypt', N: 1024, r: 8, p: 1 } as const;

async function* some(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
const all = (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => buffer(bytes);
const chunk = 64 * 1024;

describe('sealed bytes', () => {
  it.each([0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk])('can be opened again (%i bytes)', async (size) => {
    const plain = Buffer.alloc(size, 'plain bytes ');
    const sealed = await all(sealBytes(some(plain.subarray(0, 10), plain.subarray(10)), passphrase, kdf));
    expect(sealed.includes('plain bytes')).toBe(false);
    // The sealed bytes may arrive in pieces of any size.
    expect(await all(openBytes(some(sealed.subarray(0, 7), sealed.subarray(7)), passphrase))).toEqual(plain);
  });

  it('open only with their passphrase, and only if they are complete and unchanged', async () => {
    const sealed = await all(sealBytes(some(Buffer.alloc(2 * chunk + 5, 'x')), passphrase, kdf));
    const start = sealed.indexOf(10) + 1;
    const block = chunk + 16;
    const open = (bytes: Uint8Array, by = passphrase) => all(openBytes(some(bytes), by));
    const [first, second] = [0, 1].map((at) => sealed.subarray(start + at * block, start + (at + 1) * block));
    const swapped = [sealed.subarray(0, start), second!, first!, sealed.subarray(start + 2 * block)];
    const flipped = Buffer.from(sealed);
    flipped[start + block + 9]! ^= 1;
    await expect(open(sealed, `${passphrase} `)).rejects.toThrow('The passphrase is wrong');
    await expect(open(sealed.subarray(0, start + block))).rejects.toThrow('passphrase is wrong, or');
    await expect(open(sealed.subarray(0, start + 2 * block))).rejects.toThrow('damaged or incomplete');
    await expect(open(sealed.subarray(0, -1))).rejects.toThrow('damaged or incomplete');
    await expect(open(flipped)).rejects.toThrow('damaged or incomplete');
    await expect(open(Buffer.concat(swapped))).rejects.toThrow('passphrase is wrong, or');
    await expect(open(Buffer.from('{"format":"another"}\n'))).rejects.toThrow(
      'cannot be read by this version',
    );
    await expect(open(Buffer.alloc(5_000))).rejects.toThrow('cannot be read by this version');
  });

  it('can contain files, which are read one by one', async () => {
    const files = [
      { path: 'a', bytes: some(Buffer.from('one '), Buffer.alloc(0), Buffer.from('file')) },
      { path: 'files/b', bytes: some() },
      { path: 'c', bytes: some(Buffer.alloc(chunk, 'c')) },
    ];
    const packed = await all(packEntries(files));
    const found: [string, number][] = [];
    for await (const { path, bytes } of unpackEntries(some(packed))) {
      // An entry whose bytes are not read is skipped.
      found.push([path, path === 'a' ? -1 : (await all(bytes)).length]);
    }
    expect(found).toEqual([
      ['a', -1],
      ['files/b', 0],
      ['c', chunk],
    ]);
    const cut = async () => {
      for await (const _ of unpackEntries(some(packed.subarray(0, -1))));
    };
    await expect(cut()).rejects.toThrow('damaged or incomplete');
  });
});
