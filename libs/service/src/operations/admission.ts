/** How many operations a service works on at the same time by default. This number keeps a database busy (bench/README.md). */
export const operationsAtOnce = 64;
/**
 * An operation may spend this share of the time until its caller's deadline on waiting and working. If it is expected to need
 * more time, it is turned away. In a standing queue, the share is smaller than in a burst.
 */
const burstShare = 1 / 2;
const standingShare = 1 / 5;
/** How long all places may be taken before the queue counts as standing, in ms. Until then, it counts as a burst. */
const burstMs = 1_000;
/**
 * A burst is over when a place has been free for this long, in ms. Under overload, places are free now and then, but not for
 * this long.
 */
const pauseMs = 100;
/**
 * The longest queue, as a multiple of the number of places. This limit applies even to fast work, because operations that wait
 * are held in memory.
 */
const longestQueue = 16;
/** The weight of the latest value in the moving mean of recent values. */
const weight = 1 / 32;

/**
 * Admission control: limits how many operations a service works on at the same time, and how many may wait. Without a limit,
 * more work makes all work slower, until all callers have given up (docs/adr/0036). Operations begin in the order in which they
 * came. An operation that would be done too late is turned away immediately.
 */
export class Admission {
  readonly #atOnce: number;
  #atWork = 0;
  /** The operations that wait, oldest first. Calling an entry begins the operation. */
  readonly #waiting = new Set<() => void>();
  /** How long recent work took on average, in ms. */
  #workMs = 0;
  /** The average time between the ends of two operations while all places are taken, in ms; unknown at first. */
  #apartMs: number | undefined;
  #endedAt = 0;
  /**
   * When all places became taken, and when a place last became free after that, both by `performance.now()`. If places are free
   * for at most `pauseMs`, they count as taken all the time.
   */
  #fullSince = 0;
  #freeSince = Number.NEGATIVE_INFINITY;

  constructor(atOnce = operationsAtOnce) {
    this.#atOnce = atOnce;
  }

  /**
   * Takes a place. If all places are taken, waits until a place is free. Returns `false` if the queue is full, or if the work
   * is expected to end too late for the deadline (Unix time in ms). The caller gives the place back with `leave`.
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

  /**
   * Gives a place back. The operation that has waited longest gets the place. `tookMs` is how long the work took, if any work
   * was done.
   */
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
