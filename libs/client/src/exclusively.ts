/** The Web Locks of browsers, of Deno and of newer Nodes. */
interface Locks {
  request<T>(name: string, options: { signal: AbortSignal }, work: () => Promise<T>): Promise<T>;
}

/** A tab that is frozen while it holds the lock must not stop the others. */
const patienceMs = 10_000;

/** Does work while no other client of the same name does, across tabs; just so where there are no Web Locks. */
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
    // Not had in time, or not to be had in this page: two refreshes at once do no harm within the platform's grace.
    if (isBegun) throw error;
    return work();
  } finally {
    clearTimeout(timer);
  }
}
