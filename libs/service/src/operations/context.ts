import { traceparentHeader } from '@kith/base';
import type { Message } from '@kith/bus';

/** Who calls: the claims of a verified access token. */
export interface Caller {
  userId: string;
  sessionId: string;
  role: string;
}

/** Which operator calls, by `OPERATOR_TOKEN` or by a key. */
export interface OperatorCaller {
  /** The id of the key; null means `OPERATOR_TOKEN`. */
  keyId: string | null;
  /** The projects that the key is limited to; null means all projects. */
  projectIds: readonly string[] | null;
}

/**
 * The server key with which an application's back end sent the request. If the request also names a user (`caller` in
 * `RequestContext`), the key acts for this user; otherwise it acts as itself.
 */
export interface ServerKeyCaller {
  keyId: string;
}

/**
 * What the gateway says about a request, in headers that only the gateway may set (docs/adr/0003). `wireVersion` and `form` say
 * which form of address the client has used (spec#addresses-forms). `form` is the version prefix of the address, `/api/v6`, or
 * empty.
 */
export interface RequestContext {
  requestId: string;
  projectId: string | null;
  caller: Caller | null;
  /** The operator who calls. Set only if the operation is for operators. */
  operator?: OperatorCaller | undefined;
  /** Set if an application's own back end calls. Without a caller, the back end acts as itself (spec#server-keys). */
  serverKey?: ServerKeyCaller | undefined;
  clientIp: string;
  userAgent: string;
  wireVersion: 'v6' | 'v7';
  form: string;
  /**
   * Whether the address named no project. `projectId` is then the project of the token, or of the user whom the request is
   * about (spec#short-forms-project).
   */
  isShort?: true;
  /**
   * The Unix time in ms after which nobody waits for the answer, by this machine's clock. The header also carries the time that
   * is left until then. The receiver uses the time that is left instead of the Unix time. The reason is that the clocks of two
   * machines may differ by more than the length of a request.
   */
  deadline: number;
  params: Record<string, string>;
  /** The raw query string, without the question mark. */
  query: string;
  traceparent: string | null;
  /** The idempotency key of the request, if it has one and the operation accepts it (spec#idempotency-key). */
  idempotencyKey?: string;
  /** Set if the project shows complete profiles to callers without a token (spec#users-strangers-all). */
  seesAll?: true;
  /** For an upload: how many MiB the project may store, if the project has a limit (spec#projects-storage-quota). */
  storageMib?: number | undefined;
}

/**
 * The header that holds the whole context, except `traceparent`. It is one line of JSON, because reading ten separate headers
 * costs four times as much (bench/README.md). JSON escapes line breaks, so no text of a client can add a header.
 */
const contextHeader = 'Kith-Context';

const nothing: RequestContext = {
  requestId: '',
  projectId: null,
  caller: null,
  clientIp: '',
  userAgent: '',
  wireVersion: 'v6',
  form: '',
  deadline: Number.NaN,
  params: {},
  query: '',
  traceparent: null,
};

type Told = Partial<Record<keyof RequestContext | 'timeLeftMs', unknown>>;

/** Writes a context as header lines. Fields that are left out get their empty values when the context is read. */
export function encodeContext(context: Partial<RequestContext>): Message['headers'] {
  const { traceparent, userAgent, deadline } = context;
  // JSON leaves out undefined values, so `traceparent` is set to undefined. Removing the field from the object would cost more
  // than all other steps here. The deadline itself stays in the header, because services of the previous version read it. Both
  // versions may run at the same time.
  const told: Told = { ...context, traceparent: undefined };
  if (deadline !== undefined) told.timeLeftMs = deadline - Date.now();
  // Databases refuse text with half of a surrogate pair, so `toWellFormed` replaces such halves.
  if (userAgent) told.userAgent = userAgent.toWellFormed();
  const headers: Record<string, string> = { [contextHeader]: JSON.stringify(told) };
  if (traceparent) headers[traceparentHeader] = traceparent;
  return headers;
}

/**
 * Reads a context from header lines. The time that is left for the request is counted from `at` (Unix ms): now, or the earliest
 * time at which the lines may have arrived.
 */
export function decodeContext(headers: Message['headers'], at = Date.now()): RequestContext {
  const text = headers[contextHeader];
  const traceparent = headers[traceparentHeader] ?? null;
  if (text === undefined) return { ...nothing, traceparent };
  const { timeLeftMs, ...context } = JSON.parse(text) as Partial<RequestContext> & { timeLeftMs?: number };
  const stamped = timeLeftMs === undefined ? {} : { deadline: at + timeLeftMs };
  return { ...nothing, ...context, ...stamped, traceparent };
}
