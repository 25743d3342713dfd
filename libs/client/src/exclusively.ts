/** Web Locks, which exist in browsers, in Deno and in newer versions of Node. */
interface Locks {
  request<T>(name: string, options: { signal: AbortSignal }, work: () => Promise<T>): Promise<T>;
}

/** How long to wait for the lock, in ms. A tab that is frozen while it holds the lock must not stop the other tabs. */
const patienceMs = 10_000;

/**
 * Does the work when no other client, in this tab or another, does work under the same name. Without Web Locks, or without a
 * name, does the work without waiting.
 */
export async function exclusively<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  const { locks } = ((globalThis as { navigator?: unknown }).navigator ?? {}) as { locks?: Locks };
  if (!locks || name === undefined) return work();
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), patienceMs);
  let isBegun = false;
  try {
    return await locks.request(name, { signal: patience.signal }, () => {
      isBegun = true;
      clearTimeout(timer);
      return work();
    });
  } catch (error) {
    // This client did not get the lock in time, or the page is not allowed to use locks. So this client does the work without
    // the lock. Two refreshes at the same time do no harm within the platform's grace period.
    if (isBegun) throw error;
    return work();
  } finally {
    clearTimeout(timer);
  }
}
