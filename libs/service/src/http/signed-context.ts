import { type Secrets, traceparentHeader } from '@kith/base';
import { decodeContext, encodeContext, type RequestContext } from '../operations/context.ts';

/**
 * The headers of a request from the gateway to a service. They hold the request's context, and the proof that it comes from the
 * gateway.
 */
export const signedContextHeader = 'kith-signed-context';
export const signatureHeader = 'kith-signature';

/** The purpose that is part of every signature of a context. */
const purpose = 'context of a request';
/** How long a signature is valid, in ms. The request must begin within this time. */
const lifeMs = 30_000;
/**
 * The validity of a gateway's signature may end at most this far in the future, in ms. This is `lifeMs` plus the time by which
 * two clocks may differ.
 */
export const longestLifeMs = 60_000;

/**
 * What a signature covers in addition to the context. Because of this, nobody can use the signature again for another method,
 * path or operation.
 */
export interface Signed {
  /** The method that the client sent. */
  method: string;
  /** The path at which the gateway calls the service. */
  path: string;
  /** The name of the operation. */
  operation: string;
}

/** The headers that make a service trust a request: the context and its signature (docs/adr/0045). */
export function signContext(
  secrets: Secrets,
  signed: Signed,
  context: Partial<RequestContext>,
): Record<string, string> {
  const told = Buffer.from(JSON.stringify(encodeContext(context))).toString('base64url');
  const end = Date.now() + lifeMs;
  const { traceparent } = context;
  return {
    [signedContextHeader]: told,
    [signatureHeader]: `${end}.${secrets.sign(purpose, textOf(signed, told, end))}`,
    ...(traceparent && { [traceparentHeader]: traceparent }),
  };
}

/**
 * The context of a request. Returns `undefined` unless a gateway with one of these secrets has recently signed the context for
 * this method, path and operation.
 */
export function verifiedContext(
  secrets: Secrets,
  signed: Signed,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  now = Date.now(),
): RequestContext | undefined {
  const told = headers[signedContextHeader];
  const signature = headers[signatureHeader];
  if (typeof told !== 'string' || typeof signature !== 'string') return undefined;
  const [, digits, signatures = ''] = /^(\d{1,15})\.([\w.-]+)$/.exec(signature) ?? [];
  const end = Number(digits);
  if (!(end > now && end <= now + longestLifeMs)) return undefined;
  if (!secrets.verifies(purpose, textOf(signed, told, end), signatures)) return undefined;
  return decodeContext(JSON.parse(Buffer.from(told, 'base64url').toString()));
}

function textOf({ method, path, operation }: Signed, told: string, end: number): string {
  // No part contains a line break. So two different requests never give the same joined text.
  return [method, path, operation, end, told].join('\n');
}

/** The canonical path of an operation's address. It is the same for all address forms. It has lower-case ids and no query. */
export function canonicalPath(
  operation: { path: string },
  { projectId, params }: Pick<RequestContext, 'projectId' | 'params'>,
): string {
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  return projectId === null ? path : `/${projectId}${path}`;
}
