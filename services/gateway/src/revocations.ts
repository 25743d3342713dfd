import {
  getRevocations,
  noticeSubject,
  type Revocations as Revoked,
  revocationNotice,
} from '@kith/contracts';
import { ApiError, ask, type Bus, type Intake, type Logger, Sweeper } from '@kith/service';
import type { AccessToken } from './token.ts';

export interface RevocationsOptions {
  bus: Bus;
  log: Logger;
  refreshMs?: number;
  timeoutMs?: number;
}

const defaults = { refreshMs: 30_000, timeoutMs: 2_000 };
const checkMs = 1_000;

/**
 * Sessions that were revoked and users who are suspended, as long as their access tokens may live: told by identity
 * when it happens, and asked of it at start, after each break of the bus and every 30 s (ARCHITECTURE, decision 5).
 */
export class Revocations {
  readonly #options: RevocationsOptions & typeof defaults;
  readonly #sweeper: Sweeper;
  /** Until when, in Unix ms. */
  readonly #sessions = new Map<string, number>();
  #users = new Map<string, { until: number; heard: number }>();
  /** When it was heard, by the count of notices, that a user is suspended no more. */
  readonly #restored = new Map<string, number>();
  #notices = 0;
  #intake: Intake | undefined;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #isDue = true;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #isStopped = false;

  private constructor(options: RevocationsOptions) {
    this.#options = { ...defaults, ...options };
    this.#sweeper = new Sweeper(() => this.#loadWhenDue(), { everyMs: checkMs, log: options.log });
  }

  /** Listens, then makes a first attempt to load; without an answer it tries again every second. */
  static async open(options: RevocationsOptions): Promise<Revocations> {
    const revocations = new Revocations(options);
    const { bus } = options;
    revocations.#intake = await bus.listen(noticeSubject(bus.prefix, revocationNotice), ({ body }) =>
      revocations.#hear(body),
    );
    bus.onReconnect(() => {
      revocations.#isDue = true;
      void revocations.#loadWhenDue();
    });
    await revocations.#loadWhenDue();
    return revocations;
  }

  /** Whether it has been loaded once; from then on it stays in use while identity is away. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Throws `auth/suspended`, `auth/unauthorized` for a revoked session, `gateway/unavailable` before it is loaded. */
  async check({ userId, sessionId }: Pick<AccessToken, 'userId' | 'sessionId'>): Promise<void> {
    if (!this.#isLoaded) await this.#loadWhenDue();
    if (!this.#isLoaded) throw new ApiError('gateway/unavailable');
    const now = Date.now();
    if ((this.#users.get(userId)?.until ?? 0) > now) throw new ApiError('auth/suspended');
    if ((this.#sessions.get(sessionId) ?? 0) > now) throw new ApiError('auth/unauthorized');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#sweeper.stop();
    await this.#intake?.drain();
    await this.#loading;
  }

  #hear(body: Uint8Array): void {
    const notice = revocationNotice.body.parse(JSON.parse(new TextDecoder().decode(body)));
    const heard = ++this.#notices;
    this.#addSessions(notice.sessions);
    for (const { userId, until } of notice.suspended) {
      this.#users.set(userId, { until: Date.parse(until), heard });
      this.#restored.delete(userId);
    }
    for (const userId of notice.restored) {
      this.#users.delete(userId);
      this.#restored.set(userId, heard);
    }
  }

  async #loadWhenDue(): Promise<void> {
    // One that began before it became due may have missed why it did.
    if (this.#loading) await this.#loading;
    const isOld = performance.now() - this.#loadedAt >= this.#options.refreshMs;
    if (this.#isStopped || (!this.#isDue && !isOld)) return;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #load(): Promise<void> {
    const { log } = this.#options;
    this.#isDue = false;
    const began = this.#notices;
    try {
      const { sessions, suspended } = await this.#ask();
      this.#addSessions(sessions);
      this.#replaceUsers(suspended, began);
      this.#forgetOver();
      this.#loadedAt = performance.now();
      this.#isLoaded = true;
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) log.warn({ err: error }, 'revocations can not be loaded; trying again');
      this.#hasFailed = true;
      this.#isDue = true;
    }
  }

  async #ask(): Promise<Revoked> {
    const { bus, timeoutMs } = this.#options;
    const all: Revoked = { sessions: [], suspended: [] };
    let after: string | null = null;
    do {
      const context = { requestId: 'gateway-revocations', deadline: Date.now() + timeoutMs };
      const page: Revoked & { next: string | null } = await ask(bus, getRevocations, { after }, context);
      // Not spread into `push`: a page holds more than a call takes arguments.
      all.sessions = all.sessions.concat(page.sessions);
      all.suspended = all.suspended.concat(page.suspended);
      after = page.next;
    } while (after !== null);
    return all;
  }

  #addSessions(sessions: Revoked['sessions']): void {
    for (const { sessionId, until } of sessions) this.#sessions.set(sessionId, Date.parse(until));
  }

  /** Takes the users of an answer for all there are, but for what was heard while it was on its way. */
  #replaceUsers(suspended: Revoked['suspended'], began: number): void {
    const users = new Map<string, { until: number; heard: number }>();
    for (const { userId, until } of suspended) {
      if ((this.#restored.get(userId) ?? 0) <= began)
        users.set(userId, { until: Date.parse(until), heard: 0 });
    }
    for (const [userId, entry] of this.#users) if (entry.heard > began) users.set(userId, entry);
    this.#users = users;
    for (const [userId, heard] of this.#restored) if (heard <= began) this.#restored.delete(userId);
  }

  #forgetOver(): void {
    const now = Date.now();
    for (const [sessionId, until] of this.#sessions) if (until <= now) this.#sessions.delete(sessionId);
  }
}
