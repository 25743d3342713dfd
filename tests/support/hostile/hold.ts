/**
 * Measures how long this thread's loop is held: the most CPU time of the thread between two of its looks. What other
 * processes and threads take of the machine does not count.
 */
export class HoldWatch {
  readonly #timer: NodeJS.Timeout;
  #last = cpuMicros();
  #most = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), 1);
  }

  /** Forgets what was. */
  begin(): void {
    this.#last = cpuMicros();
    this.#most = 0;
  }

  /** The longest since then, in ms; resolves when the loop has come round once more. */
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
