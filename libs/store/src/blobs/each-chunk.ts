/**
 * Passes each chunk to `take`. Asks for the next chunk only when `take` has ended, because both chunks may use the same memory.
 * Rejects if the source or `take` rejects, or if the signal is aborted. Never rejects while `take` is still running.
 */
export async function eachChunk(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  take: (chunk: Uint8Array) => Promise<unknown>,
): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => undefined);
  const abort = () => reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const chunks = iterate(source);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await Promise.race([chunks.next(), aborted]);
      if (done) return;
      await take(value);
    }
  } catch (error) {
    // Does not wait until the source is closed, because some sources never end.
    chunks.return(undefined).catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function* iterate<T>(source: AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield* source;
}
