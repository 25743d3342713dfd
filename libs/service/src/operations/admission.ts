/** How many operations a service works on at once, unless told otherwise: enough to keep a database busy (bench/README.md). */
export const operationsAtOnce = 64;
/** When a service turns work away, as shares of what is left until the asker's deadline. */
const burstShare = 1 / 2;
const standingShare = 1 / 5;
/** How long all places may be taken before what waits is a standing queue and no burst any more, in ms. */
const burstMs = 1_000;
/** How long a place has to be free for a burst to be over, in ms: under overload one is free now and then, but not for long. */
const pauseMs = 100;
/** As many times what is worked on at once may wait, however fast it goes: what waits is held in memory. */
const longestQueue = 16;
/** The share of the latest in what is the mean of times lately. */
const weight = 1 / 32;

/**
 * Admission control: how many operations a service works on at once, and how many may wait for that. Work begun without a
 * bound gets slower the more there is of it, until all of it is given up by those who asked (docs/adr/0036). Begins in the
 * order asked; tells at once where waiting would be in vain.
 */
export class Admission {
  readonly #atOnce: number;
  #atWork = 0;
  /** Those who wait, oldest first: each is begun by its call. */
  readonly #waiting = new Set<() => void>();
  /** How long work takes lately, in ms. */
  #workMs = 0;
  /** How long it takes from one end of work to the next while all places are taken, in ms; nothing is known at first. */
  #apartMs: number | undefined;
  #endedAt = 0;
  /** Since when all places are taken, and since when one is free, on the process's own clock. */
  #fullSince = 0;
  #freeSince = Number.NEGATIVE_INFINITY;

  constructor(atOnce = operationsAtOnce) {
    this.#atOnce = atOnce;
  }

  /**
   * Takes a place: at once, or, if all are taken, as soon as one is free. `false` where it would not be done in good time before
   * the deadline (Unix time in ms). Whoever has a place gives it back with `leave`.
   */
  enter(deadline: number): boolean | Promise<true> {
    if (this.#atWork < this.#atOnce) {
      if (++this.#atWork === this.#atOnce) this.#becomeFull();
      return true;
    }
    const queued = this.#waiting.size;
    const share = performance.now() - this.#fullSince < burstMs ? burstShare : standingShare;
    const expectedMs = (queued + 1) * this.#expectedApartMs + this.#workMs;
    if (queued >= longestQueue * this.#atOnce || expectedMs > (deadline - Date.now()) * share) return false;
    return new Promise((begin) => this.#waiting.add(() => begin(true)));
  }

  /** Gives a place back, to whoever has waited longest. `tookMs` is how long the work took, where there was any. */
  leave(tookMs?: number): void {
    if (tookMs !== undefined) this.#learn(tookMs);
    const [next] = this.#waiting;
    if (next) {
      this.#waiting.delete(next);
      next();
    } else if (this.#atWork-- === this.#atOnce) this.#freeSince = performance.now();
  }

  #learn(tookMs: number): void {
    this.#workMs = lately(this.#workMs, tookMs);
    if (this.#atWork < this.#atOnce) return;
    const now = performance.now();
    this.#apartMs = lately(this.#expectedApartMs, now - this.#endedAt);
    this.#endedAt = now;
  }

  get #expectedApartMs(): number {
    return this.#apartMs ?? this.#workMs / this.#atOnce;
  }

  #becomeFull(): void {
    this.#endedAt = performance.now();
    if (this.#endedAt - this.#freeSince > pauseMs) this.#fullSince = this.#endedAt;
  }
}

function lately(mean: number, latest: number): number {
  return mean + (latest - mean) * weight;
}
