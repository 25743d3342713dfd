import { ApiError } from '@kith/base';
import { getRevocations, type RevocationNotice, revocationNotice } from '@kith/contracts';
import { askPages } from '../tables/ask-pages.ts';
import { Following, type FollowingOptions } from '../tables/following.ts';
import { HeardTable } from '../tables/heard-table.ts';
import type { AccessToken } from './access-token.ts';
import { unauthorized } from './unauthorized.ts';

export interface RevocationsOptions extends FollowingOptions {
  /** Called when a key is newly revoked. */
  onRevokedKey?: () => void;
}

/** Revoked sessions and suspended users, kept as long as their access tokens may live, and revoked keys, kept for good. */
export class Revocations {
  readonly #options: RevocationsOptions;
  /** Until when each is refused, in Unix ms. A revoked session stays revoked, so entries are never undone. */
  readonly #sessions = new Map<string, number>();
  /** Key ids. */
  readonly #keys = new Set<string>();
  readonly #users = new HeardTable<number>();
  #following: Following | undefined;

  private constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /** Makes a first attempt to load them. If there is no answer, it resolves all the same and goes on trying. */
  static async open(options: RevocationsOptions): Promise<Revocations> {
    const revocations = new Revocations(options);
    const followed = {
      notice: revocationNotice,
      hear: (notice: RevocationNotice) => revocations.#hear(notice),
      load: () => revocations.#load(),
    };
    revocations.#following = await Following.open(followed, options);
    return revocations;
  }

  /** Whether they have been loaded once; from then on they stay in use while identity is away. */
  get isLoaded(): boolean {
    return this.#following?.isLoaded ?? false;
  }

  /** How long ago they were loaded last, in seconds; undefined before the first time. */
  get ageSeconds(): number | undefined {
    return this.#following?.ageSeconds;
  }

  /** How many sessions and users it knows of. */
  get sizes(): { sessions: number; users: number } {
    return { sessions: this.#sessions.size, users: this.#users.size };
  }

  /** Resolves when they have been loaded. Throws `gateway/unavailable`. */
  async loaded(): Promise<void> {
    await this.#following?.loaded();
  }

  /** Throws `auth/suspended`, or `auth/unauthorized` for a revoked key or session, by what was loaded and heard so far. */
  check({ userId, sessionId, keyId }: Pick<AccessToken, 'userId' | 'sessionId' | 'keyId'>): void {
    // Keys come first: a token signed by a stolen key says nothing reliable about a user.
    if (this.hasKey(keyId)) throw unauthorized('revoked');
    const now = Date.now();
    if ((this.#users.get(userId) ?? 0) > now) throw new ApiError('auth/suspended');
    if ((this.#sessions.get(sessionId) ?? 0) > now) throw unauthorized('revoked');
  }

  /** Whether a signing key was revoked. */
  hasKey(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  async stop(): Promise<void> {
    await this.#following?.stop();
  }

  #hear({ sessions, suspended, restored, keys }: RevocationNotice): void {
    this.#addSessions(sessions);
    this.#addKeys(keys);
    for (const { userId, until } of suspended) this.#users.hear(userId, Date.parse(until));
    for (const userId of restored) this.#users.hear(userId, null);
  }

  async #load(): Promise<void> {
    const { bus, timeoutMs } = this.#options;
    const { mark } = this.#users;
    const pages = await askPages(bus, getRevocations, { requestId: 'gateway-revocations', timeoutMs });
    for (const { sessions, keys } of pages) {
      this.#addSessions(sessions);
      this.#addKeys(keys);
    }
    const suspended = pages.flatMap((page) => page.suspended);
    this.#users.replace(
      suspended.map(({ userId, until }) => [userId, Date.parse(until)] as const),
      mark,
    );
    this.#forgetOver();
  }

  #addKeys(keys: readonly string[]): void {
    const before = this.#keys.size;
    for (const kid of keys) this.#keys.add(kid);
    if (this.#keys.size > before) this.#options.onRevokedKey?.();
  }

  #addSessions(sessions: RevocationNotice['sessions']): void {
    for (const { sessionId, until } of sessions) this.#sessions.set(sessionId, Date.parse(until));
  }

  #forgetOver(): void {
    const now = Date.now();
    for (const [sessionId, until] of this.#sessions) if (until <= now) this.#sessions.delete(sessionId);
  }
}
