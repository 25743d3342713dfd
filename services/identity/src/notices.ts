import type { Logger } from '@kith/base';
import type { Bus } from '@kith/bus';
import {
  type ApiKey,
  apiKeyNotice,
  noticeSubject,
  projectSettingsNotice,
  type RevocationNotice,
  revocationNotice,
} from '@kith/contracts';
import { deletedSettingsOf, gatewaySettingsOf } from './project-settings.ts';
import type { Project } from './store/index.ts';

/**
 * Tells gateways immediately if the rules that they enforce have changed. If a gateway has missed a notice, it asks for the
 * change later.
 */
export class Notices {
  readonly #bus: Bus;
  readonly #log: Logger;

  constructor(bus: Bus, log: Logger) {
    this.#bus = bus;
    this.#log = log;
  }

  /** Sends the sessions, users and keys that gateways must refuse or must accept again. Does not wait for the delivery. */
  tell(notice: Partial<RevocationNotice>): void {
    const whole: RevocationNotice = { sessions: [], suspended: [], restored: [], keys: [], ...notice };
    this.#broadcast(revocationNotice, whole);
  }

  /** Sends a project's present settings. Does not wait for the delivery. */
  tellSettings(project: Project): void {
    this.#broadcast(projectSettingsNotice, gatewaySettingsOf(project));
  }

  /** Reports that a project is deleted. Does not wait for the delivery. */
  tellDeleted(projectId: string): void {
    this.#broadcast(projectSettingsNotice, deletedSettingsOf(projectId));
  }

  /** Reports a new key. If `key` is null, reports that no key has this hash any more. Does not wait for the delivery. */
  tellApiKey(hash: string, key: ApiKey | null): void {
    this.#broadcast(apiKeyNotice, { hash, key });
  }

  #broadcast(notice: { name: string }, content: object): void {
    const body = new TextEncoder().encode(JSON.stringify(content));
    this.#bus.broadcast(noticeSubject(this.#bus.prefix, notice), body).catch((error: unknown) => {
      this.#log.warn(
        { err: error, notice: notice.name },
        'a notice of a change has not reached the gateways yet',
      );
    });
  }
}
