/**
 * Measures how long this thread's event loop is blocked. The result is the largest CPU time that the thread uses between two
 * ticks of a timer. The CPU time of other processes and threads is not included.
 */
export class HoldWatch {
  readonly #timer: NodeJS.Timeout;
  #last = cpuMicros();
  #most = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), 1);
  }

  /** Begins a new measurement. */
  begin(): void {
    this.#last = cpuMicros();
    this.#most = 0;
  }

  /** The longest time since `begin`, in ms. Resolves after one more turn of the loop. */
  async longest(): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#look();
    return this.#most / 1_000;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = cpuMicros();
    this.#most = Math.max(this.#most, now - this.#last);
    this.#last = now;
  }
}

function cpuMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
