/** The longest time that `setTimeout` accepts, in ms. A timer with a longer time fires immediately. */
export const longestTimerMs = 2 ** 31 - 1;

/** Waits for a time, in ms. If the signal is aborted first, rejects with the signal's reason. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, longestTimerMs));
  });
  return unlessAborted(over, signal).finally(() => clearTimeout(timer));
}

/** Waits for work that others may also wait for. The signal ends only the waiting, not the work. */
export function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
