/**
 * A pool of reusable buffers of one size. If each use allocated new memory, garbage collection would take longer than the work
 * with the bytes.
 */
export class BufferPool {
  readonly #bytes: number;
  readonly #most: number;
  readonly #free: Buffer[] = [];

  /**
   * @param bytes The size of each buffer.
   * @param most The maximum number of unused buffers that are kept.
   */
  constructor(bytes: number, most: number) {
    this.#bytes = bytes;
    this.#most = most;
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#bytes);
  }

  /** Gives buffers back to the pool. After this call, the caller must not read or write them. */
  giveBack(...buffers: readonly Buffer[]): void {
    this.#free.push(...buffers.slice(0, this.#most - this.#free.length));
  }
}
