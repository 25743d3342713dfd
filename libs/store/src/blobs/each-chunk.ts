/**
 * Goes through bytes and waits for what is done with each chunk, before it asks for the next one: their memory may be the same. Rejects
 * when the source does, `take` does, or the signal is aborted, but never while `take` is at work.
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
    // Not waited for: the source may never come to an end.
    chunks.return(undefined).catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function* iterate<T>(source: AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield* source;
}
