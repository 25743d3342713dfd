import type { ServerResponse } from 'node:http';

/**
 * Writes all bytes of an answer, as fast as its client reads them, and ends the answer. The head of the answer has announced
 * `length` bytes. Throws if there are fewer or more. If it did not throw, the connection would stay open. The client would then
 * wait for missing bytes, or take additional bytes for the next answer.
 */
export async function sendBytes(
  response: ServerResponse,
  body: AsyncIterable<Uint8Array>,
  { length, signal }: { length: number; signal: AbortSignal },
): Promise<void> {
  let left = length;
  for await (const chunk of body) {
    left -= chunk.length;
    if (left < 0) throw new Error('An answer has more bytes than its Content-Length.');
    await writeChunk(response, chunk, signal);
  }
  if (left > 0) throw new Error('An answer has fewer bytes than its Content-Length.');
  response.end();
}

/** Resolves as soon as the chunk's memory is no longer needed. Rejects when the signal is aborted. */
function writeChunk(response: ServerResponse, chunk: Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    response.write(chunk, (error) => {
      signal.removeEventListener('abort', stop);
      if (error) reject(error);
      else resolve();
    });
  });
}
