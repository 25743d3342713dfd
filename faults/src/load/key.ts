/** Something of which one request at a time changes something, and what is known of it. */
export abstract class Key {
  isBusy = false;
  /** When an attempt without an answer may not come true any more, in ms of `performance.now()`; none is open before it. */
  unsureUntil: number | undefined;

  get isFree(): boolean {
    return !this.isBusy && (this.unsureUntil === undefined || performance.now() > this.unsureUntil);
  }

  /** Nobody knows whether it was done; in this time it is. */
  beUnsure(): void {
    this.unsureUntil = performance.now() + settledMs;
  }

  /** Changes or reads something. What is unsure by then is read and becomes known. */
  abstract act(): Promise<void>;

  async run(): Promise<void> {
    this.isBusy = true;
    try {
      await this.act();
    } finally {
      this.isBusy = false;
    }
  }
}

/** A service works on no request that is older than its deadline of 5 s, and ends each within that again. */
const settledMs = 12_000;
