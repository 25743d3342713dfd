import { ApiError } from '@kith/base';
import { getRevocations, type RevocationNotice, revocationNotice } from '@kith/contracts';
import { askPages } from '../tables/ask-pages.ts';
import { Following, type FollowingOptions } from '../tables/following.ts';
import { HeardTable } from '../tables/heard-table.ts';
import type { AccessToken } from './access-token.ts';
import { unauthorized } from './unauthorized.ts';

export interface RevocationsOptions extends FollowingOptions {
  /** Called when the gateway learns of a newly revoked key. */
  onRevokedKey?: () => void;
}

/**
 * Revoked sessions, suspended users and revoked keys. Sessions and users are kept until their access tokens have expired. Keys
 * are kept permanently.
 */
export class Revocations {
  readonly #options: RevocationsOptions;
  /**
   * The time until which each revoked session is refused: Unix ms, by session id. A revoked session stays revoked, so no notice
   * ever removes a session from this map.
   */
  readonly #sessions = new Map<string, number>();
  /** The ids of revoked keys. */
  readonly #keys = new Set<string>();
  readonly #users = new HeardTable<number>();
  #following: Following | undefined;

  private constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /** Makes a first attempt to load the revocations. Resolves even if there is no answer. Further attempts then follow. */
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

  /**
   * Whether the revocations have been loaded at least once. After the first load they stay in use, even while identity is away.
   */
  get isLoaded(): boolean {
    return this.#following?.isLoaded ?? false;
  }

  /** How long ago the revocations were last loaded, in seconds. Undefined before the first load. */
  get ageSeconds(): number | undefined {
    return this.#following?.ageSeconds;
  }

  /** How many revoked sessions and suspended users are known. */
  get sizes(): { sessions: number; users: number } {
    return { sessions: this.#sessions.size, users: this.#users.size };
  }

  /** Resolves when the revocations have been loaded. Throws `gateway/unavailable` if they cannot be loaded now. */
  async loaded(): Promise<void> {
    await this.#following?.loaded();
  }

  /**
   * Throws `auth/suspended` for a suspended user, and `auth/unauthorized` for a revoked key or session. The check uses only the
   * revocations that the gateway has loaded or heard of so far.
   */
  check({ userId, sessionId, keyId }: Pick<AccessToken, 'userId' | 'sessionId' | 'keyId'>): void {
    // Keys are checked first, because a token that was signed with a stolen key says nothing reliable about a user.
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
