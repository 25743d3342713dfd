import { isKithError, KithError } from './errors.ts';
import { exclusively } from './exclusively.ts';
import type { SessionAnswer } from './generated/types.ts';
import { expiryOf, type Session, type SessionChange, type SessionListener, sessionOf } from './session.ts';
import type { SessionStore } from './session-store.ts';
import { unlessAborted } from './wait.ts';

/** A token that ends so soon is not used: it could end on its way. */
const marginMs = 30_000;

/** Holds the session of a client, and keeps its access token fresh: one refresh, however many calls need it. */
export class SessionKeeper {
  readonly #store: SessionStore;
  readonly #lockName: string | undefined;
  readonly #refreshBy: (refreshToken: string) => Promise<SessionAnswer>;
  readonly #listeners = new Set<SessionListener>();
  readonly #unsubscribe: (() => void) | undefined;
  /** Pending while a store that takes its time is asked for the first session. */
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
        // One that was set in the meantime is newer.
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

  /** Resolves when the first session is there, from a store that takes its time. */
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

  /** Goes on with the session of an answer. */
  async start(answer: SessionAnswer): Promise<Session> {
    const session = sessionOf(answer);
    await this.set(session, { reason: 'signed-in' });
    return session;
  }

  /** Stores a session, or that there is none, and tells who listens. */
  async set(session: Session | null, change: SessionChange): Promise<void> {
    this.#loading = undefined;
    this.#session = session;
    try {
      await this.#store.set(session);
    } finally {
      // Told only when it is stored, as who listens may reload the page; and not if it is another one by now.
      if (this.#session === session) this.#tell(change);
    }
  }

  /** An access token that still holds; undefined without a session. Rejects with what ended the session. */
  async token(signal?: AbortSignal): Promise<string | undefined> {
    await this.loaded(signal);
    const session = this.#session;
    if (!session || Date.now() < expiryOf(session) - marginMs) return session?.accessToken;
    try {
      return (await unlessAborted(this.refresh(), signal))?.accessToken;
    } catch (error) {
      // It may hold a little longer than a refresh is out of reach.
      if (this.#session === session && Date.now() < expiryOf(session)) return session.accessToken;
      throw error;
    }
  }

  /** A token other than one that was refused: what a refresh has brought since, or one brings now. */
  async tokenInsteadOf(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    if (this.#session && this.#session.accessToken !== refused) return this.#session.accessToken;
    return (await unlessAborted(this.refresh(), signal))?.accessToken;
  }

  /** Ends the session if `error` is a refusal that ends it, and `used` is still the session's access token. */
  async noteRefusal(error: unknown, used: string): Promise<void> {
    if (!isKithError(error, 'auth/suspended') || this.#session?.accessToken !== used) return;
    await this.set(null, { reason: 'ended', error });
  }

  /** Refreshes the session, once for all who ask while it is on its way. */
  refresh(): Promise<Session | null> {
    const from = this.#session;
    this.#refreshing ??= exclusively(this.#lockName, () => this.#refresh(from)).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(from: Session | null): Promise<Session | null> {
    // Another client may have refreshed it while this one waited for its turn.
    if (!from || this.#session !== from || (await this.#adoptOther(from))) return this.#session;
    let answer: SessionAnswer;
    try {
      answer = await this.#refreshBy(from.refreshToken);
    } catch (error) {
      if (!isEnd(error)) throw error;
      // A tab without locks may have been first, or somebody has signed in there.
      if (await this.#adoptOther(from)) return this.#session;
      if (this.#session === from) await this.set(null, { reason: 'ended', error });
      throw error;
    }
    // Signed out or in as somebody else while it was on its way.
    if (this.#session === from) await this.set(sessionOf(answer), { reason: 'refreshed' });
    return this.#session;
  }

  /** Takes over what another client has stored in place of `from`; tells whether there was anything. */
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

/** Whether a refresh was refused for good. Anything else may pass. */
function isEnd(error: unknown): error is KithError {
  return error instanceof KithError && (error.status === 401 || error.code === 'auth/suspended');
}
