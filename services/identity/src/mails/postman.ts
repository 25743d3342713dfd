import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger, Metrics, Secrets } from '@kith/base';
import type { MailKind } from '@kith/contracts';
import { Sweeper } from '@kith/service';
import { type IdentityStore, type Mailing, type ResetRequest, sealedFor, type User } from '../store/index.ts';
import { linkOf } from './links.ts';
import { storeNotices } from './notices.ts';
import { textsOf } from './texts.ts';
import { hashAddress, hashCode, hashToken, isNotice, makeToken, tokenEnd } from './tokens.ts';
import type { Transport } from './transport.ts';

export interface PostmanOptions {
  store: Pick<IdentityStore, 'mailings' | 'mailsSent' | 'resetRequests' | 'factors' | 'projects' | 'users'>;
  secrets: Pick<Secrets, 'hash' | 'seal' | 'open'>;
  /** Null if mails cannot be sent. */
  transport: Transport | null;
  /** The address by which clients reach the gateway. */
  publicUrl?: string | undefined;
  /** When the database was last restored. Mails that were already waiting then are not sent. */
  restoredAt: number;
  log: Logger;
  metrics: Pick<Metrics, 'mailAttempts'>;
  times?: Partial<MailTimes> | undefined;
}

/** Times that control the sending of mails, in ms. */
export interface MailTimes {
  /** How often to look for mails that are due; a newly requested mail is sent immediately. */
  everyMs: number;
  /** The wait after the first failure. Each further wait is twice as long as the one before, up to `longestWaitMs`. */
  retryMs: number;
}

const usualTimes: MailTimes = { everyMs: 5_000, retryMs: 15_000 };
/**
 * How long a process reserves a mail for itself, in ms. Each attempt to send the mail ends sooner than that. If the process
 * dies, the mail is sent again after this time.
 */
const leaseMs = 3 * 60_000;
const longestWaitMs = 20 * 60_000;
/** The time after which the service gives up sending a mail, in ms. */
const patienceMs = 4 * 3600 * 1000;
/**
 * How many times the service tries to send a mail that reports a change. All tries together take about `patienceMs`. This does
 * not include the time in which the mail waits because its address has already got too many mails.
 */
const mostTries = 18;
const codePatienceMs = 10 * 60_000;
/** How many mails an address may get in an hour, all kinds together (spec#accounts-mail-rate). */
const mostAnHour = 5;
/**
 * A mail that does not report a change is sent only if the address has got fewer mails than this in the last hour, all kinds
 * together. So one mail an hour is reserved for mails that report a change, and nobody can delay such a mail by requesting
 * other mails.
 */
const mostOthersAnHour = mostAnHour - 1;
const atOnce = 10;

/**
 * Sends waiting mails: makes the token of each mail, stores the token's hash, and then hands the mail to the transport
 * (docs/adr/0051).
 */
export class Postman {
  readonly #options: PostmanOptions;
  readonly #times: MailTimes;
  readonly #sweeper: Sweeper | undefined;

  constructor(options: PostmanOptions) {
    this.#options = options;
    this.#times = { ...usualTimes, ...options.times };
    if (!options.transport) return;
    // Prometheus notices the first failure only if the counter was 0 before.
    for (const outcome of ['sent', 'failed', 'refused']) options.metrics.mailAttempts.inc({ outcome }, 0);
    const { everyMs } = this.#times;
    this.#sweeper = new Sweeper((isStopped) => this.#sendAll(isStopped), { everyMs, log: options.log });
  }

  /** Whether mails can be sent. */
  get isThere(): boolean {
    return this.#options.transport !== null;
  }

  /** Looks for due mails now. Does not wait for the result. */
  kick(): void {
    this.#sweeper?.kick();
  }

  /** Stops sending. Resolves when no mail is being sent any more. */
  async stop(): Promise<void> {
    await this.#sweeper?.stop();
    this.#options.transport?.close();
  }

  async #sendAll(isStopped: () => boolean): Promise<void> {
    const { store, log } = this.#options;
    while (!isStopped()) {
      // Looks for new requests and notices before each group of mails, because a slow mail server may take hours for all
      // groups, and a request expires after an hour.
      await this.#takeResetRequests(isStopped);
      await storeNotices(this.#options);
      if (isStopped()) return;
      const due = await store.mailings.due(new Date(Date.now() + 1), atOnce);
      const sent = due.map((one) =>
        this.#sendOne(one).catch((error) => {
          log.warn({ err: error, kind: one.kind, userId: one.userId }, 'a mail is not sent yet');
          throw error;
        }),
      );
      const failed = (await Promise.allSettled(sent)).some(({ status }) => status === 'rejected');
      if (failed || due.length < atOnce) return;
      // In the embedded form, the calls above do not let other work run if no mail is sent.
      await nextTurn();
    }
  }

  /**
   * Makes a mail for each requested password reset, if a user has the address. Drops requests that have expired, or that were
   * made before the database was restored.
   */
  async #takeResetRequests(isStopped: () => boolean): Promise<void> {
    const { store, log, restoredAt } = this.#options;
    while (!isStopped()) {
      const some = await store.resetRequests.some(atOnce);
      for (const request of some) {
        const { projectId, at, until } = request;
        if (at < restoredAt || until < Date.now()) log.warn({ projectId }, 'a password reset was given up');
        else await this.#takeResetRequest(request);
      }
      await store.resetRequests.remove(some.map(({ id }) => id));
      if (some.length < atOnce) return;
    }
  }

  async #takeResetRequest({ id, projectId, sealed }: ResetRequest): Promise<void> {
    const { store, secrets, log } = this.#options;
    let address: string | undefined;
    try {
      address = secrets.open(sealedFor.address, sealed, id).toString();
    } catch (error) {
      log.warn({ err: error, projectId }, 'a requested password reset cannot be decrypted any more');
    }
    const user = address === undefined ? null : await store.users.findByEmail(projectId, address);
    if (user?.email) await store.mailings.add(user, { kind: 'passwordReset', address: user.email });
  }

  async #sendOne(mailing: Mailing): Promise<void> {
    const { store, transport } = this.#options;
    const { kind, projectId, waiting } = mailing;
    if (!waiting || !transport) return;
    const { tries, since } = waiting;
    const project = await store.projects.find(projectId);
    const patience = kind === 'verificationCode' ? codePatienceMs : patienceMs;
    // A mail that reports a change waits if its address has already got too many mails. So the service gives up such a mail
    // after a number of tries, and not after a certain time.
    const isTried = reportsChange(kind) ? tries >= mostTries : Date.now() - since > patience;
    const isOver = isTried || since < this.#options.restoredAt;
    if (!project || isOver) {
      await store.mailings.settle(mailing, { tries });
      this.#options.log.warn({ kind, userId: mailing.userId, tries }, 'a mail was given up');
      return;
    }
    const place = await this.#takePlace(mailing, tries);
    if (place === null) return;
    const { token, stored } = this.#tokenOf(mailing);
    const taken = await store.mailings.take(mailing, {
      dueAt: new Date(Date.now() + leaseMs),
      token: stored,
    });
    if (!taken) return store.mailsSent.giveBack(place);
    if (!isStillFor(mailing, taken)) {
      await store.mailings.settle(mailing, { tries: tries + 1 });
      return store.mailsSent.giveBack(place);
    }
    const { address } = mailing;
    const link = linkOf(project, { ...mailing, token }, this.#options.publicUrl);
    const filling = { project: project.name, address, link, token, code: token };
    const { subject, text } = textsOf(project, kind, filling);
    try {
      // A mail server may drop a mail if it has already got a mail with the same `Message-ID`. Each try sends a new token, and
      // then the token of the previous try is no longer valid. So each try with a token has its own `Message-ID`. Otherwise,
      // the server could drop the only mail with a valid token.
      const messageId = hashToken([mailing.id, since, ...(stored ? [tries] : [])].join('|'));
      await transport.send({ kind, messageId, fromName: project.name, to: address, subject, text });
    } catch (error) {
      await this.#failed(mailing, tries + 1, error as SmtpFailure);
      return store.mailsSent.giveBack(place);
    }
    this.#options.metrics.mailAttempts.inc({ outcome: 'sent' });
    await store.mailings.settle(mailing, { tries: tries + 1 });
  }

  /** A new token for a mail, and what is stored of the token. A notice has no token. */
  #tokenOf({ kind, until, projectId, userId }: Mailing): { token: string; stored: Mailing['token'] } {
    if (isNotice(kind)) return { token: '', stored: null };
    const token = makeToken(kind);
    const user = { projectId, id: userId };
    const hash =
      kind === 'verificationCode' ? hashCode(this.#options.secrets, user, token) : hashToken(token);
    return { token, stored: { hash, until: tokenEnd({ kind, until }), failures: 0 } };
  }

  /**
   * Counts a try to send a mail, and returns the id of its place among the mails of this hour. Returns null if the address may
   * get no mail now. Then a mail that reports a change waits, and any other mail is dropped.
   */
  async #takePlace(mailing: Mailing, tries: number): Promise<string | null> {
    const { store, secrets, log } = this.#options;
    const { projectId, address, kind, userId, waiting } = mailing;
    const to = { projectId, hash: hashAddress(secrets, projectId, address) };
    const most = reportsChange(kind) ? mostAnHour : mostOthersAnHour;
    const mail = hashToken([mailing.id, waiting?.since].join('|'));
    const place = await store.mailsSent.take(to, most, mail);
    if (place !== null) return place;
    const again = reportsChange(kind) ? { again: new Date(Date.now() + longestWaitMs / 2) } : {};
    await store.mailings.settle(mailing, { tries, ...again });
    log.info({ kind, userId }, `not sent: ${most} mails have gone to this address within an hour`);
    return null;
  }

  async #failed(
    mailing: Mailing,
    tries: number,
    { code, responseCode = 0, command = '' }: SmtpFailure,
  ): Promise<void> {
    const { store, log, metrics } = this.#options;
    // With a code of 500 or more, the server refuses permanently (RFC 5321 section 4.2.1). But it refuses this mail only if it
    // refuses the address of the recipient, or the text. Otherwise it refuses all mails, for example because `SMTP_URL` names
    // no user, and accepts them when this is mended.
    const isForGood = responseCode >= 500 && aboutMail.includes(command);
    metrics.mailAttempts.inc({ outcome: isForGood ? 'refused' : 'failed' });
    const waitMs = Math.min(this.#times.retryMs * 2 ** (tries - 1), longestWaitMs);
    const again = isForGood ? {} : { again: new Date(Date.now() + waitMs) };
    await store.mailings.settle(mailing, { tries, ...again });
    // Does not log the server's message, because it names the address.
    const { kind, userId } = mailing;
    log.warn({ kind, userId, tries, code, responseCode, command, isForGood }, 'a mail could not be sent');
  }
}

/** What nodemailer says about a failure: its own code, the code of the server's answer, and the command that it answers. */
type SmtpFailure = Error & { code?: string; responseCode?: number; command?: string };

/** The commands whose answers are about one mail, and not about all mails. */
const aboutMail: readonly string[] = ['RCPT TO', 'DATA'];

/** Whether a mail reports a change that was made. If its address may get no mail now, such a mail is sent later. */
function reportsChange(kind: MailKind): boolean {
  return kind === 'emailChanged' || isNotice(kind);
}

/** Whether it still makes sense to send a mail. The user's address may have changed since the mail was requested. */
function isStillFor({ kind, address }: Mailing, { email }: User): boolean {
  return kind === 'emailChange' || reportsChange(kind) || address === email;
}
