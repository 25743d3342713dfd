import { noticeSubject, type RevocationNotice, revocationNotice } from '@kith/contracts';
import type { Bus, Logger } from '@kith/service';

/** Tells gateways at once what they must refuse (ARCHITECTURE, decision 5). */
export class Notices {
  readonly #bus: Bus;
  readonly #log: Logger;

  constructor(bus: Bus, log: Logger) {
    this.#bus = bus;
    this.#log = log;
  }

  /** Does not wait: a gateway that misses a notice asks for what it missed. */
  tell(notice: Partial<RevocationNotice>): void {
    const whole: RevocationNotice = { sessions: [], suspended: [], restored: [], ...notice };
    const body = new TextEncoder().encode(JSON.stringify(whole));
    this.#bus.broadcast(noticeSubject(this.#bus.prefix, revocationNotice), body).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'gateways are not told of a revocation yet');
    });
  }
}
