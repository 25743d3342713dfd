import { StartError } from '@kith/base';

/** One file in a stream of files. */
export interface PackedEntry {
  path: string;
  /** The file's bytes. Read them before you ask for the next entry. */
  bytes: AsyncIterable<Uint8Array>;
}

const lengthBytes = 4;
const longestPath = 4_096;

/**
 * Writes files one after the other. For each file, writes the length of its path and the path. The bytes follow in pieces, each
 * with its length before it. A length of 0 is the end of the file. Another length of 0 ends the stream.
 */
export async function* packEntries(
  entries: AsyncIterable<PackedEntry> | Iterable<PackedEntry>,
): AsyncGenerator<Uint8Array> {
  for await (const { path, bytes } of entries) {
    const name = Buffer.from(path);
    yield Buffer.concat([lengthOf(name), name]);
    for await (const piece of bytes) {
      if (piece.length > 0) yield Buffer.concat([lengthOf(piece), piece]);
    }
    yield Buffer.alloc(lengthBytes);
  }
  yield Buffer.alloc(lengthBytes);
}

/** Reads what `packEntries` has written. Throws `StartError` if the packed bytes are damaged or incomplete. */
export async function* unpackEntries(packed: AsyncIterable<Uint8Array>): AsyncGenerator<PackedEntry> {
  const source = packed[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  const take = async (count: number): Promise<Buffer> => {
    while (held.length < count) {
      const { value, done } = await source.next();
      if (done) throw new StartError('The sealed backup is damaged or incomplete.');
      held = Buffer.concat([held, value]);
    }
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  };
  const length = async () => (await take(lengthBytes)).readUInt32BE();
  const pieces = async function* () {
    for (let left = await length(); left > 0; left = await length()) yield await take(left);
  };
  try {
    for (let name = await length(); name > 0; name = await length()) {
      if (name > longestPath) throw new StartError('The sealed backup is damaged or incomplete.');
      const path = (await take(name)).toString();
      const bytes = pieces();
      yield { path, bytes };
      // Skips the bytes that the reader has not read.
      for await (const _ of bytes);
    }
    // Reads to the end, because only the last sealed chunk shows that nothing was cut off. This chunk may be empty.
    while (!(await source.next()).done);
  } finally {
    await source.return?.();
  }
}

function lengthOf({ length }: Uint8Array): Buffer {
  const bytes = Buffer.alloc(lengthBytes);
  bytes.writeUInt32BE(length);
  return bytes;
}
