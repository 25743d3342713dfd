/** Something on the platform that the crowd changes, with its last known state. Only one request at a time changes it. */
export abstract class Key {
  isBusy = false;
  /**
   * The time until which an attempt without an answer may still take effect, in ms of `performance.now()`. `undefined` if the
   * state is known.
   */
  unsureUntil: number | undefined;

  get isFree(): boolean {
    return !this.isBusy && (this.unsureUntil === undefined || performance.now() > this.unsureUntil);
  }

  /**
   * Records that it is unknown whether a change was made. After `unsureUntil`, the change has been made or will never be made.
   */
  beUnsure(): void {
    this.unsureUntil = performance.now() + settledMs;
  }

  /**
   * Makes a random request that changes or reads the data on the platform. If it is not known whether the last change was made,
   * only reads the data.
   */
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

/**
 * How long the change of an unanswered request may still be made after the request was sent, in ms. A service does not begin a
 * request after the request's deadline of 5 s, and ends each request within another 5 s.
 */
const settledMs = 12_000;
