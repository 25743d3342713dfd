import type { Documents } from '@kith/store';
import { resetRequests } from './collections/mails.ts';
import { everything, projectIn } from './keys-of.ts';

/** An address for which a password reset was requested. */
export interface ResetRequest {
  /** The project, and a hash of the address. */
  id: string;
  projectId: string;
  sealed: string;
  /** When the request was made, Unix ms. */
  at: number;
  /** When the request expires, Unix ms. */
  until: number;
}

const keepMs = 3600 * 1000;

/** The version of a stored request: when it was made, in Unix ms. */
export const versionOf = ({ until }: { until: number }) => until - keepMs;

/**
 * Password resets that were requested but not processed yet. A request is stored whether or not an account has the e-mail
 * address. So neither the answer nor its timing shows whether the account exists.
 */
export class ResetRequests {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async add(id: string, sealed: string): Promise<void> {
    const doc = { sealed, until: Date.now() + keepMs };
    await this.#documents.keep(resetRequests, [{ id, doc, epoch: 0, version: versionOf(doc) }]);
  }

  async some(limit: number): Promise<ResetRequest[]> {
    const found = await this.#documents.range(resetRequests, { ...everything, limit });
    return found.map(({ id, doc }) => ({ id, projectId: projectIn(id), at: versionOf(doc), ...doc }));
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#documents.clearIds(resetRequests, ids);
  }
}
