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

/** Tells gateways immediately of changes to the rules they enforce. A gateway that missed a notice asks for it later. */
export class Notices {
  readonly #bus: Bus;
  readonly #log: Logger;

  constructor(bus: Bus, log: Logger) {
    this.#bus = bus;
    this.#log = log;
  }

  /** Tells what is to be refused. Does not wait. */
  tell(notice: Partial<RevocationNotice>): void {
    const whole: RevocationNotice = { sessions: [], suspended: [], restored: [], keys: [], ...notice };
    this.#broadcast(revocationNotice, whole);
  }

  /** Tells a project's settings as they are now. Does not wait. */
  tellSettings(project: Project): void {
    this.#broadcast(projectSettingsNotice, gatewaySettingsOf(project));
  }

  /** Tells that a project is deleted. Does not wait. */
  tellDeleted(projectId: string): void {
    this.#broadcast(projectSettingsNotice, deletedSettingsOf(projectId));
  }

  /** Tells of a key that was made or, if `key` is null, that no key has this hash any more. Does not wait. */
  tellApiKey(hash: string, key: ApiKey | null): void {
    this.#broadcast(apiKeyNotice, { hash, key });
  }

  #broadcast(notice: { name: string }, content: object): void {
    const body = new TextEncoder().encode(JSON.stringify(content));
    this.#bus.broadcast(noticeSubject(this.#bus.prefix, notice), body).catch((error: unknown) => {
      this.#log.warn({ err: error, notice: notice.name }, 'gateways are not told of a change yet');
    });
  }
}
