import type { Message } from '../bus/bus.ts';

/** Who calls: the claims of a verified access token. */
export interface Caller {
  userId: string;
  sessionId: string;
  role: string;
}

/**
 * What the gateway says of a request, in headers only it may set (docs/adr/0003). `wireVersion` and `form` are the
 * address form (SPEC A1): `form` is the explicit version prefix, `/api/v6`, or empty.
 */
export interface RequestContext {
  requestId: string;
  projectId: string | null;
  caller: Caller | null;
  clientIp: string;
  userAgent: string;
  wireVersion: 'v6' | 'v7';
  form: string;
  /** Whether the address named no project: `projectId` is then the token's, or the asked user's (SPEC B9). */
  isShort?: true;
  /** Unix time in ms after which nobody waits for the answer. Machines' clocks are expected to agree (NTP). */
  deadline: number;
  params: Record<string, string>;
  /** The raw query string, without the question mark. */
  query: string;
  traceparent: string | null;
}

const names = {
  requestId: 'Kith-Request-Id',
  projectId: 'Kith-Project',
  userId: 'Kith-User',
  sessionId: 'Kith-Session',
  role: 'Kith-Role',
  clientIp: 'Kith-Client-Ip',
  userAgent: 'Kith-User-Agent',
  wireVersion: 'Kith-Wire-Version',
  form: 'Kith-Address-Form',
  isShort: 'Kith-Short-Form',
  deadline: 'Kith-Deadline',
  params: 'Kith-Params',
  query: 'Kith-Query',
  traceparent: 'traceparent',
} as const;

/** Writes a context as header lines; free text is percent-encoded, so that no line can be broken. */
export function encodeContext(context: RequestContext): Message['headers'] {
  const headers: Record<string, string> = {
    [names.requestId]: context.requestId,
    [names.clientIp]: context.clientIp,
    [names.wireVersion]: context.wireVersion,
    [names.deadline]: String(context.deadline),
  };
  if (context.form) headers[names.form] = context.form;
  if (context.isShort) headers[names.isShort] = 'true';
  if (context.projectId) headers[names.projectId] = context.projectId;
  if (context.caller) {
    headers[names.userId] = context.caller.userId;
    headers[names.sessionId] = context.caller.sessionId;
    headers[names.role] = encodeURIComponent(context.caller.role);
  }
  if (context.userAgent) headers[names.userAgent] = encodeURIComponent(context.userAgent.toWellFormed());
  const params = new URLSearchParams(context.params).toString();
  if (params) headers[names.params] = params;
  if (context.query) headers[names.query] = context.query;
  if (context.traceparent) headers[names.traceparent] = context.traceparent;
  return headers;
}

/** Reads a context back from header lines. */
export function decodeContext(headers: Message['headers']): RequestContext {
  const userId = headers[names.userId];
  return {
    requestId: headers[names.requestId] ?? '',
    projectId: headers[names.projectId] ?? null,
    caller: userId
      ? {
          userId,
          sessionId: headers[names.sessionId] ?? '',
          role: decodeURIComponent(headers[names.role] ?? ''),
        }
      : null,
    clientIp: headers[names.clientIp] ?? '',
    userAgent: decodeURIComponent(headers[names.userAgent] ?? ''),
    wireVersion: headers[names.wireVersion] === 'v7' ? 'v7' : 'v6',
    form: headers[names.form] ?? '',
    ...(headers[names.isShort] ? { isShort: true as const } : {}),
    deadline: Number(headers[names.deadline] ?? Number.NaN),
    params: Object.fromEntries(new URLSearchParams(headers[names.params] ?? '')),
    query: headers[names.query] ?? '',
    traceparent: headers[names.traceparent] ?? null,
  };
}
