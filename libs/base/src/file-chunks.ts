import { type FileHandle, type FileReadResult, open } from 'node:fs/promises';
import { BufferPool } from './buffer-pool.ts';

/** The file with the id of a folder of files. Processes that find the same id read the same folder (docs/adr/0045). */
export const folderIdFile = '.id';

const bufferBytes = 512 * 1024;
const pool = new BufferPool(bufferBytes, 32);

/**
 * Opens a file to read its bytes, or a range of them; both ends of the range are included. A chunk is valid until the reader
 * asks for the next chunk. Always iterate the result, otherwise the file is never closed. If a read fails, the reader gets the
 * error that `reasonFor` returns.
 */
export async function openChunks(
  path: string,
  range: { start: number; end: number } | undefined,
  reasonFor: (error: unknown) => unknown = (error) => error,
): Promise<AsyncIterable<Uint8Array>> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const { start = 0, end = size } = range ?? {};
    return chunksOf(file, { start, end: Math.min(end, size - 1) }, reasonFor);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A range of the bytes of a file. While the reader uses a chunk, the next chunk is already being read. */
async function* chunksOf(
  file: FileHandle,
  { start, end }: { start: number; end: number },
  reasonFor: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const taken: Buffer[] = [];
  /** Begins to read the next chunk. The reads use the two buffers alternately. */
  const readAt = (at: number): Promise<FileReadResult<Buffer>> | undefined => {
    if (at > end) return undefined;
    if (taken.length < 2) taken.unshift(pool.take());
    else taken.reverse();
    const reading = file.read(taken[0] as Buffer, 0, Math.min(bufferBytes, end - at + 1), at);
    // If reading fails, the error is thrown later, when the reader asks for this chunk.
    reading.catch(() => undefined);
    return reading;
  };
  let reading = readAt(start);
  try {
    for (let at = start; reading; ) {
      const { bytesRead, buffer }: FileReadResult<Buffer> = await reading;
      if (bytesRead === 0) break;
      at += bytesRead;
      reading = readAt(at);
      yield buffer.subarray(0, bytesRead);
    }
    // If the reader stops early, it may still be sending the bytes of a buffer. So buffers are reused only after a complete
    // read.
    pool.giveBack(...taken);
  } catch (error) {
    throw await reasonFor(error);
  } finally {
    await reading?.catch(() => undefined);
    await file.close();
  }
}
