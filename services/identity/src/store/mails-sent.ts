import { randomUUID } from 'node:crypto';
import type { Documents } from '@kith/store';
import { sentMails } from './collections/mails.ts';
import { within } from './keys-of.ts';

const hourMs = 3600 * 1000;

/** Counts the mails to an address across any number of processes. */
export class MailsSent {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Counts a mail, and returns the id of its place. If the address has already got `most` mails within the last hour, returns
   * null and does not count the mail. So a refused mail does not use up the places of mails for which `most` is higher. A mail
   * is first counted, and then the number is compared with `most` again. So of two simultaneous mails, both may be refused, but
   * the limit is never exceeded.
   * @param to The project, and a hash of the address.
   */
  async take(to: { projectId: string; hash: string }, most: number): Promise<string | null> {
    if ((await this.#sent(to)) >= most) return null;
    const until = Date.now() + hourMs;
    const id = `${to.projectId}|${to.hash}|${randomUUID()}`;
    await this.#documents.keep(sentMails, [{ id, doc: { until }, epoch: 0, version: 1 }]);
    if ((await this.#sent(to)) <= most) return id;
    await this.giveBack(id);
    return null;
  }

  /** Gives the place of a mail back that was not sent. */
  giveBack(id: string): Promise<void> {
    return this.#documents.clearIds(sentMails, [id]);
  }

  async #sent({ projectId, hash }: { projectId: string; hash: string }): Promise<number> {
    const all = await this.#documents.range(sentMails, { ...within(projectId, hash), limit: 100 });
    return all.filter(({ doc }) => doc.until > Date.now()).length;
  }
}
