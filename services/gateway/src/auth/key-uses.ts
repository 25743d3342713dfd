import type { Logger } from '@kith/base';
import type { Bus } from '@kith/bus';
import { noteKeyUses } from '@kith/contracts';
import { ask, Sweeper } from '@kith/service';

/** After a use of a key was reported to identity, no further use of this key is reported for one minute. */
const graceMs = 60_000;
const everyMs = 1_000;
const patienceMs = 2_000;
const batch = 1_000;

/** Reports to identity when keys were last used. A use is reported within a second, but at most once a minute for each key. */
export class KeyUses {
  readonly #bus: Bus;
  readonly #sweeper: Sweeper;
  /**
   * When each key was last reported as used, in Unix ms, by the hash of the key. This map and `#untold` hold only known keys,
   * so requests with made-up keys cannot fill them.
   */
  readonly #told = new Map<string, number>();
  readonly #untold = new Map<string, number>();

  constructor({ bus, log }: { bus: Bus; log: Logger }) {
    this.#bus = bus;
    this.#sweeper = new Sweeper(() => this.#tell(), { everyMs, log });
  }

  /** Notes that a key was used now. */
  note(hash: string): void {
    const now = Date.now();
    if (now - (this.#told.get(hash) ?? 0) >= graceMs) this.#untold.set(hash, now);
  }

  /** Stops reporting, and makes one last attempt to report the uses that identity does not know yet. */
  async stop(): Promise<void> {
    await this.#sweeper.stop();
    await this.#tell().catch(() => {});
  }

  async #tell(): Promise<void> {
    const now = Date.now();
    for (const [hash, at] of this.#told) if (now - at >= graceMs) this.#told.delete(hash);
    const uses = [...this.#untold].slice(0, batch);
    if (uses.length === 0) return;
    const body = { uses: uses.map(([hash, at]) => ({ hash, at: new Date(at).toISOString() })) };
    await ask(this.#bus, noteKeyUses, body, { requestId: 'gateway-key-uses', deadline: now + patienceMs });
    for (const [hash, at] of uses) {
      this.#told.set(hash, at);
      this.#untold.delete(hash);
    }
  }
}
