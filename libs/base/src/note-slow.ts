/** Waits for `work`. Calls `note` if the work is not done after `ms`. */
export async function noteSlow<T>(work: Promise<T>, note: () => void, ms = 30_000): Promise<T> {
  const timer = setTimeout(note, ms);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
