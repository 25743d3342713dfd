/** Bytes of one block: fewer and larger writes cost less than one of each piece that comes in. */
const blockBytes = 1024 * 1024;
/** After how long a block is handed on that is not full, in ms: what is wrong with the bytes is to be found early. */
const lingerMs = 25;

/** Memory of blocks, which is used again: to collect as much of it as comes in takes longer than to store it. */
const free: Buffer[] = [];
const mostFree = 16;

interface Block {
  memory: Buffer;
  length: number;
}

/**
 * Bytes that are pushed in small pieces and read in large ones. A piece is copied at once. A block is the reader's until it asks for the
 * next one; meanwhile the next one is filled.
 */
export class Blocks implements AsyncIterable<Uint8Array> {
  readonly #onRoom: () => void;
  #filling: Block | undefined;
  #ready: Block[] = [];
  #wake: (() => void) | undefined;
  #late: NodeJS.Timeout | undefined;
  #isEnded = false;
  #failure: { error: unknown } | undefined;

  /** @param onRoom Hears that there is room again after `isFull`. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom;
  }

  /** Whether its reader is behind: what is pushed nevertheless is taken, too. */
  get isFull(): boolean {
    return this.#ready.length > 0;
  }

  push(bytes: Uint8Array): void {
    if (this.#failure) return;
    for (let at = 0; at < bytes.length; ) {
      this.#filling ??= { memory: free.pop() ?? Buffer.allocUnsafeSlow(blockBytes), length: 0 };
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

  /** Has its reader fail with this error; what it has not read is dropped. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    clearTimeout(this.#late);
    for (const block of this.#ready.splice(0)) giveBack(block);
    if (this.#filling) giveBack(this.#filling);
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
          giveBack(block);
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
      // Whoever breaks off may still be working on the block: its memory is not used again.
      this.fail(new Error('Nobody reads these bytes any more.'));
    }
  }

  /** Hands on what is there although it is not a whole block, once its reader has waited for it. */
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

function giveBack({ memory }: Block): void {
  if (free.length < mostFree) free.push(memory);
}
