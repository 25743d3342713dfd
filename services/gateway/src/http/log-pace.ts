/** Limits how often the same failure is logged. A failure that lasts would otherwise fill the log with one line per request. */
export class LogPace {
  readonly #everyMs: number;
  readonly #of = new Map<string, { loggedAt: number; unlogged: number }>();

  /** @param everyMs The minimum time between two lines about the same failure. */
  constructor(everyMs = 60_000) {
    this.#everyMs = everyMs;
  }

  /**
   * Notes a failure. If this failure is to be logged, returns how many failures of this name were not logged since the last
   * line about them.
   * @param name Names the failure. The number of different names has to be limited.
   */
  next(name: string): { unlogged: number } | undefined {
    const now = performance.now();
    const last = this.#of.get(name);
    if (last && now - last.loggedAt < this.#everyMs) {
      last.unlogged++;
      return undefined;
    }
    this.#of.set(name, { loggedAt: now, unlogged: 0 });
    return { unlogged: last?.unlogged ?? 0 };
  }
}
