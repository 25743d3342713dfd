import { buildRequest } from './build-request.ts';
import { authorized, type CallSettings, call, callBy, notSignedIn } from './call.ts';
import { isKithError, KithError } from './errors.ts';
import { type Answer, checkedHeaders, exchange, openStream, unexpected } from './exchange.ts';
import { type MethodGroups, managed, operations } from './generated/application.ts';
import type { Methods, SessionAnswer, SignedUp } from './generated/types.ts';
import { methodsOf } from './methods.ts';
import { type NotificationEvent, type StreamOptions, streamNotifications } from './notification-stream.ts';
import type { CallOptions, Operation, WriteOptions } from './operation.ts';
import { mayBeDone } from './retry.ts';
import type { Session, SessionListener } from './session.ts';
import { SessionKeeper } from './session-keeper.ts';
import { memorySession, type SessionStore } from './session-store.ts';
import { type ConnectionOptions, checkedProjectId, connectionSettings } from './settings.ts';

export interface ClientOptions extends ConnectionOptions {
  /** The project that the application belongs to. */
  projectId: string;
  /** A session to continue, or the store that keeps it: `localStorageSession('kith')`. Default: a store in memory. */
  session?: Session | SessionStore | null | undefined;
  /** Called on each change of the session, no matter who made the change. */
  onSession?: SessionListener | undefined;
}

/** A project's API for one of its users, or for a visitor who has not signed in yet. */
export interface KithClient extends MethodGroups {
  readonly users: MethodGroups['users'] & {
    /** Deletes the account of the signed-in user permanently, and ends the session. */
    delete(input: Methods['users.delete']['input'], options?: WriteOptions): Promise<void>;
  };
  readonly auth: MethodGroups['auth'] & {
    /** Ends the session: immediately in the client, and then on the platform. Does nothing if nobody is signed in. */
    signOut(options?: CallOptions): Promise<void>;
    /** Refreshes the session now. The other methods refresh the session by themselves when this is necessary. */
    refresh(): Promise<Session | null>;
  };
  readonly notifications: MethodGroups['notifications'] & {
    /** Yields notifications as they come; see `StreamOptions`. */
    stream(options?: StreamOptions): AsyncGenerator<NotificationEvent, void, undefined>;
  };
  readonly storage: MethodGroups['storage'] & {
    /**
     * The full address for a path in an answer: `originalPath`, `publicPath`, or a user's `avatar` if it is not null. If the
     * platform has no `PUBLIC_URL`, these fields hold a path without a host. The path of a user's banner is
     * `/v7/<projectId>/storage/files/<bannerFileId>`.
     */
    urlOf(path: string): string;
  };
  /** The current session; null if nobody is signed in. */
  readonly session: Session | null;
  /** Uses the given session from now on; null means that nobody is signed in. This sends nothing to the platform. */
  setSession(session: Session | null): Promise<void>;
  /** From now on, calls the listener on each change of the session. Returns a function that removes the listener. */
  onSession(listener: SessionListener): () => void;
  /** Removes all session listeners, and stops listening to the store. */
  close(): void;
}

/**
 * Marks an operation as repeatable. Signing out twice does the same as signing out once. A repeated refresh gives the same
 * session, within the platform's grace period.
 */
const repeatable = (operation: Operation): Operation => ({ ...operation, isRepeatable: true });

/**
 * The maximum duration of an attempt to refresh, in ms. It leaves time for a repeat within the platform's grace period of 30 s.
 */
const refreshMs = 10_000;

/**
 * Makes a client for a project. It sends nothing until a method is called. Throws `TypeError` if `url` is not an address
 * or `projectId` is not a UUID.
 */
export function createClient(options: ClientOptions): KithClient {
  const store = storeOf(options.session);
  const connection = connectionSettings(options, checkedProjectId(options.projectId));
  const keeper = new SessionKeeper({
    store,
    lockName: store.name && `${connection.projectUrl} ${store.name}`,
    async refreshBy(refreshToken) {
      const operation = repeatable(managed.requestNewAccessToken);
      const session = sessionIn(await call(refreshing, operation, { refreshToken }));
      // This is the answer to an empty refresh token (spec#existing-clients-refresh).
      if (!session) throw new KithError('Nobody is signed in.', notSignedIn);
      return session;
    },
  });
  const settings: CallSettings = { ...connection, tokens: keeper };
  /**
   * Settings for a refresh. If the answer to a refresh is lost, the session ends, unless the client repeats the refresh in time
   * (spec#accounts-refresh-grace).
   */
  const refreshing: CallSettings = {
    ...settings,
    timeoutMs: Math.min(settings.timeoutMs, refreshMs),
    retries: Math.max(settings.retries, 1),
  };
  /**
   * Settings for a request that has to reach the platform even if a session listener leaves or reloads the page in the
   * meantime.
   */
  const lasting: CallSettings = {
    ...settings,
    fetch: (address, init, alive) => settings.fetch(address, { ...init, keepalive: true }, alive),
  };
  if (options.onSession) keeper.listen(options.onSession);
  const start = async (answer: Answer) => {
    const session = sessionIn(answer);
    // If the answer has no tokens, the user must first verify the e-mail address.
    const isReplayed = answer.headers.has('idempotency-replayed');
    return session ? keeper.start(session, { isReplayed }) : answer.body;
  };
  const methods = methodsOf(settings, operations, start) as unknown as MethodGroups;

  return {
    ...methods,
    auth: {
      ...methods.auth,
      async signOut(callOptions) {
        await keeper.loaded(callOptions?.signal);
        const session = keeper.current;
        if (!session) return;
        const stored = keeper.set(null, { reason: 'signed-out' });
        // If the store fails, it may still hold the session. So the platform must end the session even then.
        await stored.catch(() => {});
        const { refreshToken } = session;
        await call(lasting, repeatable(managed.signOut), { refreshToken }, callOptions);
        await stored;
      },
      async refresh() {
        await keeper.loaded();
        return keeper.refresh();
      },
    },
    users: {
      ...methods.users,
      async delete(input, callOptions) {
        const send: typeof exchange = (request, exchangeOptions) =>
          exchange(request, exchangeOptions).catch((error: unknown) => {
            keeper.isLeaving ||= mayBeDone(error) && keeper.current?.user.id === input.userId;
            throw error;
          });
        try {
          await callBy(send, settings, operations.users.delete, input, callOptions);
        } catch (error) {
          // If the answer to an earlier attempt was lost, the platform refuses this attempt, because the session has ended with
          // the account.
          const isRefused = isKithError(error, 'auth/unauthorized') || mayBeDone(error);
          const isGone = (isRefused && !keeper.current) || isKithError(error, 'user/not-found');
          if (!keeper.isLeaving || !isGone) throw error;
        } finally {
          keeper.isLeaving = false;
        }
        if (keeper.current?.user.id === input.userId) await keeper.set(null, { reason: 'signed-out' });
      },
    },
    notifications: {
      ...methods.notifications,
      stream(streamOptions) {
        const { fetch, timeoutMs } = settings;
        const signal = streamOptions?.signal;
        const headersAfter = (lastEventId: string | undefined) =>
          checkedHeaders({
            accept: 'text/event-stream',
            ...(lastEventId && { 'last-event-id': lastEventId }),
          });
        // An id that no header can carry is refused here. In the stream, it would make each new connection fail.
        let headers = headersAfter(streamOptions?.lastEventId);
        const attempt = authorized(
          settings,
          managed.stream.auth,
          signal,
          (token) => {
            const request = buildRequest(settings, managed.stream, {});
            return openStream({ ...request, headers }, { fetch, token, timeoutMs, signal });
          },
          // If another user or nobody is signed in when the stream reconnects, the stream ends with this error. Without this
          // argument (`endOf`), `authorized` would throw the error of an earlier attempt, such as a connection that failed, and
          // the stream would go on reconnecting.
          () => new KithError('The user of this stream is no longer signed in.', notSignedIn),
        );
        return streamNotifications((lastEventId) => {
          headers = headersAfter(lastEventId);
          return attempt();
        }, streamOptions);
      },
    },
    storage: {
      ...methods.storage,
      urlOf: (path) => (path.startsWith('/') ? `${settings.url}${path}` : path),
    },
    get session() {
      return keeper.current;
    },
    setSession: (session) => keeper.set(session, { reason: 'set' }),
    onSession: (listener) => keeper.listen(listener),
    close: () => keeper.close(),
  };
}

function storeOf(given: ClientOptions['session']): SessionStore {
  return given && 'get' in given ? given : memorySession(given ?? null);
}

/** The session in an answer; null if the answer says that there is none. Throws if the answer is not from the API. */
function sessionIn(answer: Answer): SessionAnswer | null {
  const { accessToken, refreshToken, user } = (answer.body ?? {}) as Partial<SignedUp>;
  if (accessToken === null) return null;
  if (accessToken && refreshToken && user) return answer.body as SessionAnswer;
  throw unexpected(answer);
}
