/** Something that is changed by one request at a time, with what is known of it. */
export abstract class Key {
  isBusy = false;
  /** Until when an attempt without an answer may still take effect, in ms of `performance.now()`. Undefined if nothing is unsure. */
  unsureUntil: number | undefined;

  get isFree(): boolean {
    return !this.isBusy && (this.unsureUntil === undefined || performance.now() > this.unsureUntil);
  }

  /** Notes that nobody knows whether a change was made. After this time it has been made or never will be. */
  beUnsure(): void {
    this.unsureUntil = performance.now() + settledMs;
  }

  /** Changes or reads something. If something is unsure, reading it makes it known. */
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

/** A service begins no request that is older than its deadline of 5 s, and ends each within another 5 s. */
const settledMs = 12_000;
