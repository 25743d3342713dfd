import { isKithError, KithError } from './errors.ts';
import { exclusively } from './exclusively.ts';
import type { SessionAnswer } from './generated/types.ts';
import { expiryOf, type Session, type SessionChange, type SessionListener, sessionOf } from './session.ts';
import type { SessionStore } from './session-store.ts';
import { unlessAborted } from './wait.ts';

/** A token that expires within this time is not used: it could expire on its way. */
const marginMs = 30_000;

/** Holds the session of a client, and keeps its access token fresh. Calls that need a refresh at the same time share it. */
export class SessionKeeper {
  readonly #store: SessionStore;
  readonly #lockName: string | undefined;
  readonly #refreshBy: (refreshToken: string) => Promise<SessionAnswer>;
  readonly #listeners = new Set<SessionListener>();
  readonly #unsubscribe: (() => void) | undefined;
  /** Pending while an asynchronous store reads the first session. */
  #loading: Promise<void> | undefined;
  #session: Session | null = null;
  #refreshing: Promise<Session | null> | undefined;

  /** @param options.refreshBy Exchanges a refresh token; rejects as a call does. */
  constructor(options: {
    store: SessionStore;
    lockName: string | undefined;
    refreshBy: (refreshToken: string) => Promise<SessionAnswer>;
  }) {
    this.#store = options.store;
    this.#lockName = options.lockName;
    this.#refreshBy = options.refreshBy;
    const first = this.#store.get();
    if (first && 'then' in first) {
      const loading = first.then((session) => {
        // A session that was set in the meantime is newer.
        if (this.#loading !== loading) return;
        this.#loading = undefined;
        if (session) this.#become(session, { reason: 'set' });
      });
      this.#loading = loading;
      loading.catch(() => {});
    } else this.#session = first;
    this.#unsubscribe = this.#store.subscribe?.((session) => {
      if (session?.accessToken !== this.#session?.accessToken) this.#become(session, { reason: 'elsewhere' });
    });
  }

  get current(): Session | null {
    return this.#session;
  }

  /** Resolves when an asynchronous store has read the first session. */
  async loaded(signal?: AbortSignal): Promise<void> {
    if (this.#loading) await unlessAborted(this.#loading, signal);
  }

  listen(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe?.();
    this.#listeners.clear();
  }

  /** Starts the session of an answer. */
  async start(answer: SessionAnswer): Promise<Session> {
    const session = sessionOf(answer);
    await this.set(session, { reason: 'signed-in' });
    return session;
  }

  /** Stores a session, or that there is none, and tells the listeners. */
  async set(session: Session | null, change: SessionChange): Promise<void> {
    this.#loading = undefined;
    this.#session = session;
    try {
      await this.#store.set(session);
    } finally {
      // Listeners may reload the page, so they are told only after the session is stored, and not if it has been replaced by then.
      if (this.#session === session) this.#tell(change);
    }
  }

  /** An access token that is still valid; undefined without a session. Rejects with the error that ended the session. */
  async token(signal?: AbortSignal): Promise<string | undefined> {
    await this.loaded(signal);
    const session = this.#session;
    if (!session || Date.now() < expiryOf(session) - marginMs) return session?.accessToken;
    try {
      return (await unlessAborted(this.refresh(), signal))?.accessToken;
    } catch (error) {
      // The old token can be used until it expires, even if it cannot be refreshed now.
      if (this.#session === session && Date.now() < expiryOf(session)) return session.accessToken;
      throw error;
    }
  }

  /** A token other than the refused one: the session's, if it was refreshed meanwhile, or else one from a new refresh. */
  async tokenInsteadOf(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    if (this.#session && this.#session.accessToken !== refused) return this.#session.accessToken;
    return (await unlessAborted(this.refresh(), signal))?.accessToken;
  }

  /** Ends the session if `error` is a refusal that ends it, and `used` is still the session's access token. */
  async noteRefusal(error: unknown, used: string): Promise<void> {
    if (!isKithError(error, 'auth/suspended') || this.#session?.accessToken !== used) return;
    await this.set(null, { reason: 'ended', error });
  }

  /** Refreshes the session. All callers during a refresh share it. */
  refresh(): Promise<Session | null> {
    const from = this.#session;
    this.#refreshing ??= exclusively(this.#lockName, () => this.#refresh(from)).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(from: Session | null): Promise<Session | null> {
    // Another client may have refreshed the session while this one waited for its turn.
    if (!from || this.#session !== from || (await this.#adoptOther(from))) return this.#session;
    let answer: SessionAnswer;
    try {
      answer = await this.#refreshBy(from.refreshToken);
    } catch (error) {
      if (!isEnd(error)) throw error;
      // Another tab without locks may have refreshed first, or somebody has signed in there.
      if (await this.#adoptOther(from)) return this.#session;
      if (this.#session === from) await this.set(null, { reason: 'ended', error });
      throw error;
    }
    // The new session is dropped if the user has signed out, or in as somebody else, during the refresh.
    if (this.#session === from) await this.set(sessionOf(answer), { reason: 'refreshed' });
    return this.#session;
  }

  /** Takes over what another client has stored in place of `from`; returns whether there was anything. */
  async #adoptOther(from: Session): Promise<boolean> {
    const stored = await this.#store.get();
    if (this.#session !== from) return true;
    if (stored?.refreshToken === from.refreshToken) return false;
    this.#become(stored, { reason: 'elsewhere' });
    return true;
  }

  #become(session: Session | null, change: SessionChange): void {
    this.#session = session;
    this.#tell(change);
  }

  #tell(change: SessionChange): void {
    for (const listener of [...this.#listeners]) listener(this.#session, change);
  }
}

/** Whether a refresh was refused for good. Any other failure may be temporary. */
function isEnd(error: unknown): error is KithError {
  return error instanceof KithError && (error.status === 401 || error.code === 'auth/suspended');
}
