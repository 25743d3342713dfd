import { isKithError, KithError } from './errors.ts';
import { exclusively } from './exclusively.ts';
import type { SessionAnswer } from './generated/types.ts';
import {
  expiryOf,
  isOtherUser,
  type Session,
  type SessionChange,
  type SessionListener,
  sessionOf,
} from './session.ts';
import type { SessionStore } from './session-store.ts';
import { unlessAborted } from './wait.ts';

/** A token that expires within this time, in ms, is not used. It could expire on its way to the platform. */
const marginMs = 30_000;

/**
 * Holds the session of a client, and keeps its access token fresh. Calls that need a refresh at the same time share one
 * refresh.
 */
export class SessionKeeper {
  readonly #store: SessionStore;
  readonly #lockName: string | undefined;
  readonly #refreshBy: (refreshToken: string) => Promise<SessionAnswer>;
  readonly #listeners = new Set<SessionListener>();
  readonly #unsubscribe: (() => void) | undefined;
  /** Pending while the store reads the first session. `failed` if the store could not read it. */
  #loading: Promise<void> | 'failed' | undefined;
  #session: Session | null = null;
  #refreshing: Promise<Session | null> | undefined;
  /** Pending while an asynchronous store writes. */
  #writing: Promise<void> | undefined;
  /**
   * The refresh tokens of this client's earlier sessions. The store may still hold one of these sessions, because it has not
   * written the current session yet, or could not write it. `undefined` stands for no session. Empty if the store holds the
   * current session.
   */
  readonly #outdated = new Set<string | undefined>();
  /** Whether the store may still hold a session that it had at the start and that this client has never read. */
  #isUnread = false;
  /**
   * Whether the client has asked to delete the account and does not know the outcome. The account may then be deleted. If the
   * platform refuses the session while this is set, the session ends as `signed-out`, and the listeners get no error.
   */
  isLeaving = false;

  /** @param options.refreshBy Exchanges a refresh token for a session. Rejects with the same errors as any method. */
  constructor(options: {
    store: SessionStore;
    lockName: string | undefined;
    refreshBy: (refreshToken: string) => Promise<SessionAnswer>;
  }) {
    this.#store = options.store;
    this.#lockName = options.lockName;
    this.#refreshBy = options.refreshBy;
    this.#load();
    this.#unsubscribe = this.#store.subscribe?.((session) => {
      if (session?.accessToken !== this.#session?.accessToken) this.#become(session, { reason: 'elsewhere' });
    });
  }

  get current(): Session | null {
    return this.#session;
  }

  /** Resolves when an asynchronous store has read the first session. If the store could not read it, tries again. */
  async loaded(signal?: AbortSignal): Promise<void> {
    const loading = this.#loading === 'failed' ? this.#load() : this.#loading;
    if (loading) await unlessAborted(loading, signal);
  }

  listen(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe?.();
    this.#listeners.clear();
  }

  /**
   * Starts a session from the answer of a call. If the platform has repeated an earlier answer (`isReplayed`), the lifetime of
   * the access token began with that answer.
   */
  async start(answer: SessionAnswer, { isReplayed = false } = {}): Promise<Session> {
    const session = { ...sessionOf(answer), ...(isReplayed && { expiresAt: undefined }) };
    await this.set(session, { reason: 'signed-in' });
    return session;
  }

  /** Stores the session; `null` means that there is no session. Then calls the listeners. */
  async set(session: Session | null, change: SessionChange): Promise<void> {
    this.#isUnread ||= this.#loading !== undefined;
    this.#loading = undefined;
    this.#outdated.add(this.#session?.refreshToken);
    this.#session = session;
    try {
      await this.#write(session);
    } finally {
      // Listeners may reload the page, so they are called only after the session is stored. If another session has replaced this
      // session by then, the listeners are not called.
      if (this.#session === session) this.#tell(change);
    }
  }

  /**
   * An access token that is still valid; undefined if there is no session, or if somebody else signs in during the refresh.
   * Rejects with the error of the refresh if the refresh fails and the old token has expired.
   */
  async token(signal?: AbortSignal): Promise<string | undefined> {
    await this.loaded(signal);
    const session = this.#session;
    if (!session || !isDue(session)) return session?.accessToken;
    try {
      const next = (await unlessAborted(this.refresh(), signal))?.accessToken;
      return isOtherUser(session.accessToken, next) ? undefined : next;
    } catch (error) {
      return this.#unlessExpired(session, error).accessToken;
    }
  }

  /**
   * A token that differs from the refused token. If the session was refreshed in the meantime, this is the session's token. If
   * it was not refreshed, the token comes from a new refresh.
   */
  async tokenInsteadOf(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    if (this.#session && this.#session.accessToken !== refused) return this.token(signal);
    return (await unlessAborted(this.refresh(), signal))?.accessToken;
  }

  /**
   * Ends the session if `error` says that the user is suspended. Does nothing if the session no longer has the access token
   * `used`.
   */
  async noteRefusal(error: unknown, used: string): Promise<void> {
    if (!isKithError(error, 'auth/suspended') || this.#session?.accessToken !== used) return;
    await this.set(null, { reason: 'ended', error });
  }

  /** Refreshes the session. If a refresh is already under way, the caller waits for this refresh. */
  refresh(): Promise<Session | null> {
    const from = this.#session;
    this.#refreshing ??= exclusively(this.#lockName, () => this.#refresh(from)).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  #load(): Promise<void> | undefined {
    const first = this.#read();
    if (!first || !('then' in first)) {
      this.#loading = undefined;
      if (first) this.#become(first, { reason: 'set' });
      return undefined;
    }
    const loading = first.then(
      (session) => {
        // If a session was set while the store was being read, that session is newer, so the session from the store is dropped.
        if (this.#loading !== loading) return;
        this.#loading = undefined;
        if (session) this.#become(session, { reason: 'set' });
      },
      (error: unknown) => {
        if (this.#loading === loading) this.#loading = 'failed';
        throw error;
      },
    );
    this.#loading = loading;
    loading.catch(() => {});
    return loading;
  }

  /** Reads the store. If a synchronous store throws, returns a rejected promise, as an asynchronous store does. */
  #read(): Session | null | Promise<Session | null> {
    try {
      return this.#store.get();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #refresh(from: Session | null): Promise<Session | null> {
    // While this client waited for the lock, another client may have refreshed the session.
    if (!from || this.#session !== from || (await this.#adoptOther(from))) return this.#replacement();
    let answer: SessionAnswer;
    try {
      answer = await this.#refreshBy(from.refreshToken);
    } catch (error) {
      if (!isEnd(error)) throw error;
      // The token may be refused because another tab has refreshed the session first, without a lock. Or a sign-in in another
      // tab may have replaced the session.
      if (await this.#adoptOther(from)) return this.#replacement();
      const hasLeft = this.isLeaving && error.code === 'auth/unauthorized';
      const change: SessionChange = hasLeft ? { reason: 'signed-out' } : { reason: 'ended', error };
      if (this.#session === from) await this.set(null, change);
      throw error;
    }
    // If the user has signed out during the refresh, or has signed in as somebody else, the new session is dropped. If this
    // happened in another tab, the event of the change may not have arrived yet, but the store shows the change. If the store
    // cannot be read, the new session is kept.
    const isOver = this.#session !== from || (await this.#adoptOther(from).catch(() => false));
    if (isOver) return this.#replacement();
    await this.set(sessionOf(answer), { reason: 'refreshed' });
    return this.#session;
  }

  /**
   * The session that has replaced the session to refresh. The token of the new session may have expired, too, so the new
   * session is refreshed if it is due. If this refresh fails, the token is used until it expires.
   */
  async #replacement(): Promise<Session | null> {
    const session = this.#session;
    if (!session || !isDue(session)) return session;
    return this.#refresh(session).catch((error) => this.#unlessExpired(session, error));
  }

  /** After a failed refresh, returns the session if its token can still be used. Otherwise throws the error of the refresh. */
  #unlessExpired(session: Session, error: unknown): Session {
    if (this.#session === session && Date.now() < expiryOf(session)) return session;
    throw error;
  }

  /**
   * If another client has stored another session since `from` became the current session, makes the stored session the current
   * one. If another client has removed the session, there is no current session from now on. Returns whether `from` is no
   * longer the current session.
   */
  async #adoptOther(from: Session): Promise<boolean> {
    const stored = await this.#store.get();
    if (this.#session !== from) return true;
    if (stored?.refreshToken === from.refreshToken) return false;
    if (this.#isUnread || this.#outdated.has(stored?.refreshToken)) {
      // The stored session must not become the current session, for one of two reasons. First, it may be an earlier session of
      // this client (`#outdated`). If its refresh token were used again, the platform would treat the token as stolen and end
      // the session. Second, this client may never have read the stored session (`#isUnread`). An earlier user may have left
      // this session, or another client may have stored it in the meantime. The store does not show which is true. For either
      // reason, the current session replaces the stored session.
      await this.#write(from).catch(() => {});
      return this.#session !== from;
    }
    this.#become(stored, { reason: 'elsewhere' });
    return true;
  }

  async #write(session: Session | null): Promise<void> {
    // A slow write of an earlier session must not end after this write. A synchronous store writes immediately.
    while (this.#writing) {
      await this.#writing.catch(() => {});
      if (this.#session !== session) return;
    }
    const writing = this.#store.set(session);
    if (writing) {
      this.#writing = Promise.resolve(writing).finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
    if (this.#session === session) this.#noteStored();
  }

  #become(session: Session | null, change: SessionChange): void {
    this.#loading = undefined;
    this.#session = session;
    this.#noteStored();
    this.#tell(change);
  }

  /** Notes that the store holds the current session. */
  #noteStored(): void {
    this.#outdated.clear();
    this.#isUnread = false;
  }

  #tell(change: SessionChange): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(this.#session, change);
      } catch (error) {
        // The error of one listener must not stop the calls of the other listeners, so it is reported as an uncaught error.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/** Whether a session's access token has expired, or expires soon. */
function isDue(session: Session): boolean {
  return Date.now() >= expiryOf(session) - marginMs;
}

/**
 * Whether the platform has refused a refresh permanently. Any other failure may be temporary, such as the error page of a
 * proxy.
 */
function isEnd(error: unknown): error is KithError {
  if (!(error instanceof KithError) || error.code === 'client/unexpected-answer') return false;
  return error.status === 401 || error.code === 'auth/suspended';
}
