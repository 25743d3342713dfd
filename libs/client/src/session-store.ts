import type { Session } from './session.ts';

/** Where a session is kept. */
export interface SessionStore {
  get(): Session | null | Promise<Session | null>;
  /** A promise has to settle, because the next call waits for it. */
  set(session: Session | null): void | Promise<void>;
  /**
   * Calls the listener when the session was set elsewhere, such as in another tab, and not by this store's own `set`. Returns a
   * function that removes the listener.
   */
  subscribe?(listener: (session: Session | null) => void): () => void;
  /**
   * The name of the store. Stores with the same name keep the same session. If the browser has Web Locks, clients with the same
   * session refresh it one at a time.
   */
  readonly name?: string;
}

/** Keeps a session for as long as the client lives. */
export function memorySession(session: Session | null = null): SessionStore {
  let kept = session;
  return {
    get: () => kept,
    set: (next) => {
      kept = next;
    },
  };
}

interface StorageEvent {
  readonly key: string | null;
}

/** The globals of a page that this file uses. A server that renders the same page has none of these globals. */
interface Page {
  readonly localStorage?: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
  addEventListener?(type: 'storage', listener: (event: StorageEvent) => void): void;
  removeEventListener?(type: 'storage', listener: (event: StorageEvent) => void): void;
}

/**
 * Keeps a session in `localStorage` under `key`, for all tabs and for the next visit. Any script of the page can read
 * it. If there is no storage, or it is full or forbidden, the session is kept in memory.
 */
export function localStorageSession(key: string): SessionStore {
  const page = globalThis as unknown as Page;
  const memory = memorySession();
  let isStored = true;
  const get = (): Session | null => {
    try {
      const text = isStored ? page.localStorage?.getItem(key) : undefined;
      if (text !== undefined) return parse(text);
    } catch {}
    return memory.get() as Session | null;
  };
  const hasSession = (): boolean => {
    try {
      return typeof page.localStorage?.getItem(key) === 'string';
    } catch {
      return false;
    }
  };
  return {
    name: key,
    get,
    set(session) {
      void memory.set(session);
      try {
        if (session) page.localStorage?.setItem(key, JSON.stringify(session));
        else page.localStorage?.removeItem(key);
        isStored = true;
      } catch {
        isStored = false;
        // The stored session is older than the session in memory, so it is removed. The refresh token of the stored session may
        // be used up, and the stored session may belong to another user.
        try {
          page.localStorage?.removeItem(key);
        } catch {}
      }
    },
    subscribe(listener) {
      // An event without a key means that the whole storage was cleared.
      const changed = (event: StorageEvent) => {
        if (event.key !== key && event.key !== null) return;
        // When the storage was full, this tab removed the stored session. So if the storage has a session now, another tab has
        // stored it later.
        isStored ||= hasSession();
        listener(get());
      };
      page.addEventListener?.('storage', changed);
      return () => page.removeEventListener?.('storage', changed);
    },
  };
}

function parse(text: string | null): Session | null {
  try {
    const session = JSON.parse(text ?? 'null') as Session | null;
    return typeof session?.accessToken === 'string' && typeof session.refreshToken === 'string'
      ? session
      : null;
  } catch {
    return null;
  }
}
