import { BufferPool } from '@kith/base';

/** The size of a block, in bytes. A few large writes cost less than one write for each small piece that comes in. */
const blockBytes = 1024 * 1024;
/**
 * How long the reader waits for a full block, in ms. After this time, the reader gets the block as it is, so that errors in
 * the bytes are found early.
 */
const lingerMs = 25;

const pool = new BufferPool(blockBytes, 16);

interface Block {
  memory: Buffer;
  length: number;
}

/**
 * Bytes that are pushed in small pieces and read in large blocks. A piece is copied when it is pushed. The reader may use a
 * block until it asks for the next block. Meanwhile, the next block is filled.
 */
export class Blocks implements AsyncIterable<Uint8Array> {
  readonly #onRoom: () => void;
  #filling: Block | undefined;
  #ready: Block[] = [];
  #wake: (() => void) | undefined;
  #late: NodeJS.Timeout | undefined;
  #isEnded = false;
  #failure: { error: unknown } | undefined;

  /** @param onRoom Called when there is room again after `isFull` was true. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom;
  }

  /**
   * Whether there are complete blocks that the reader has not taken yet. Even if there are such blocks, further pieces can be
   * pushed, and no piece is lost.
   */
  get isFull(): boolean {
    return this.#ready.length > 0;
  }

  push(bytes: Uint8Array): void {
    if (this.#failure) return;
    for (let at = 0; at < bytes.length; ) {
      this.#filling ??= { memory: pool.take(), length: 0 };
      const { memory, length } = this.#filling;
      const piece = bytes.subarray(at, at + blockBytes - length);
      memory.set(piece, length);
      at += piece.length;
      this.#filling.length += piece.length;
      if (this.#filling.length === blockBytes) this.#hand();
    }
    this.#linger();
  }

  end(): void {
    this.#isEnded = true;
    this.#hand();
  }

  /** After this call, reading the bytes throws this error. Bytes that the reader has not read yet are dropped. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    clearTimeout(this.#late);
    for (const block of this.#ready.splice(0)) pool.giveBack(block.memory);
    if (this.#filling) pool.giveBack(this.#filling.memory);
    this.#filling = undefined;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const block = this.#failure ? undefined : this.#ready.shift();
        if (block) {
          this.#onRoom();
          yield block.memory.subarray(0, block.length);
          pool.giveBack(block.memory);
          continue;
        }
        if (this.#failure) throw this.#failure.error;
        if (this.#isEnded) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          this.#linger();
        });
        this.#wake = undefined;
      }
    } finally {
      // A reader that stops early may still be using its last block. So the memory of this block is not given back to the pool.
      this.fail(new Error('Nobody reads these bytes any more.'));
    }
  }

  /** If the reader is waiting, gives it the current block after `lingerMs`, even if the block is not full. */
  #linger(): void {
    if (this.#wake && this.#filling) this.#late ??= setTimeout(() => this.#hand(), lingerMs);
  }

  #hand(): void {
    clearTimeout(this.#late);
    this.#late = undefined;
    if (this.#filling) this.#ready.push(this.#filling);
    this.#filling = undefined;
    this.#wake?.();
  }
}
