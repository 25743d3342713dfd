/**
 * Waits until `probe` returns a value other than `undefined`, `null` or `false`, and resolves with this value. If the probe throws,
 * calls it again. Rejects with the last error after `timeoutMs` (default 15 s). `everyMs` is the pause between two calls. Give
 * a longer pause if a call takes much work.
 */
export async function waitFor<T>(
  probe: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; what?: string } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  // Does not use `Date.now()`, because a test may have stopped that clock.
  const until = performance.now() + (options.timeoutMs ?? 15_000);
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== null && value !== false)
        return value as NonNullable<Exclude<T, false>>;
    } catch (error) {
      last = error;
    }
    if (performance.now() > until) {
      // The reason is part of the message, because many people see only the first line of a failed test.
      const reason = last instanceof Error ? `: ${last.message}` : '.';
      throw new Error(`Waited in vain for ${options.what ?? 'a condition'}${reason}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 20));
  }
}
