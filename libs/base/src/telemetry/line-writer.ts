import { writeSync } from 'node:fs';

/** The maximum number of bytes that wait for a slow reader. */
const mostBytes = 1024 * 1024;
/** How long to wait before a full pipe is tried again, in ms. */
const againMs = 20;
/** How long the end of the process may wait for a slow reader, in ms. */
const lastMs = 500;

/**
 * Writes lines to a descriptor in their order, immediately if possible. If the reader is slow, lines wait in memory, and lines
 * beyond 1 MiB are dropped. If the reader has closed the pipe, all lines are dropped, and the process continues. In this case,
 * pino's own destination would retry for ever, and the process would hang.
 */
export class LineWriter {
  readonly #fd: number;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #isGone = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** The number of bytes that wait for the reader. */
  get waitingBytes(): number {
    return this.#bytes;
  }

  write(line: string): void {
    if (this.#isGone) return;
    const bytes = Buffer.from(line);
    if (this.#bytes > 0 && this.#bytes + bytes.length > mostBytes) return;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (!this.#timer) this.#flush();
  }

  /** Waits a moment for a slow reader to take the last lines. Call it when the process ends. */
  end(): void {
    const clock = new Int32Array(new SharedArrayBuffer(4));
    for (let ms = 0; this.#bytes > 0 && ms < lastMs; ms += againMs) {
      if (ms > 0) Atomics.wait(clock, 0, 0, againMs);
      clearTimeout(this.#timer);
      this.#flush();
    }
  }

  #flush(): void {
    this.#timer = undefined;
    try {
      while (this.#bytes > 0) {
        const bytes = Buffer.concat(this.#waiting);
        this.#keep(bytes);
        this.#keep(bytes.subarray(writeSync(this.#fd, bytes)));
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') {
        // Node has made the pipe non-blocking, and the pipe is full.
        this.#timer = setTimeout(() => this.#flush(), againMs).unref();
        return;
      }
      // After other errors, for example if the disk was full, it may be possible to write later lines.
      this.#isGone = code === 'EPIPE';
      this.#keep(Buffer.alloc(0));
    }
  }

  #keep(rest: Buffer): void {
    this.#waiting = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
  }
}
