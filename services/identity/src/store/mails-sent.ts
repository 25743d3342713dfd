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
   * Counts a try to send a mail, and returns the id of its place. If the address has already got `most` other mails within the
   * last hour, returns null and does not count the try. So a refused mail does not use up the places of mails for which `most`
   * is higher. A try is first counted, and then the number is compared with `most` again. So of two simultaneous mails, both may
   * be refused, but the limit is never exceeded. Several tries of one mail count once, because the place of a try stays if its
   * process dies.
   * @param to The project, and a hash of the address.
   * @param mail A text without `|` that tells the mail from all others.
   */
  async take(to: { projectId: string; hash: string }, most: number, mail: string): Promise<string | null> {
    if ((await this.#others(to, mail)) >= most) return null;
    const until = Date.now() + hourMs;
    const id = `${to.projectId}|${to.hash}|${mail}|${randomUUID()}`;
    await this.#documents.keep(sentMails, [{ id, doc: { until }, epoch: 0, version: 1 }]);
    if ((await this.#others(to, mail)) < most) return id;
    await this.giveBack(id);
    return null;
  }

  /** Gives the place of a try back in which the mail was not sent. */
  giveBack(id: string): Promise<void> {
    return this.#documents.clearIds(sentMails, [id]);
  }

  /** How many mails other than the given one an address has got. */
  async #others({ projectId, hash }: { projectId: string; hash: string }, mail: string): Promise<number> {
    const all = await this.#documents.range(sentMails, { ...within(projectId, hash), limit: 100 });
    const mails = new Set(all.filter(({ doc }) => doc.until > Date.now()).map(({ id }) => id.split('|')[2]));
    mails.delete(mail);
    return mails.size;
  }
}
