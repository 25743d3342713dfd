import type { Input, Operation } from './operation.ts';

/** A request that is ready to be sent, but has no token yet. */
export interface Outgoing {
  method: string;
  address: string;
  /** The body as JSON. */
  body: string | undefined;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Builds a request: puts each input of the method into the path, the query or the body. Throws `TypeError` for a parameter that
 * cannot be a part of a path. For example, `..` is such a parameter. It would be removed together with the segment before it,
 * so the address would belong to another operation.
 */
export function buildRequest(
  scopes: { url: string; projectUrl: string },
  operation: Operation,
  input: Input,
): Outgoing {
  const rest = { ...input };
  return {
    method: operation.method,
    address: takeAddress(scopes, operation, rest),
    body: operation.method !== 'GET' && Object.keys(rest).length > 0 ? JSON.stringify(rest) : undefined,
  };
}

/** The address of a call. Parameters that go into the address are removed from `rest`. Throws as `buildRequest` does. */
export function takeAddress(
  scopes: { url: string; projectUrl: string },
  operation: Operation,
  rest: Record<string, unknown>,
): string {
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return segmentOf(name, value);
  });
  const query = new URLSearchParams();
  const hasBody = operation.method !== 'GET';
  for (const name of hasBody ? (operation.query ?? []) : Object.keys(rest)) {
    const value = rest[name];
    if (value !== undefined && value !== null) query.append(name, String(value));
    delete rest[name];
  }
  // `query.size` cannot be used: browsers have it only since 2023.
  const search = query.toString();
  return `${operation.isGlobal ? scopes.url : scopes.projectUrl}${path}${search && `?${search}`}`;
}

function segmentOf(name: string, value: unknown): string {
  const text = value === undefined || value === null ? '' : String(value);
  if (/^\.{0,2}$/.test(text))
    throw new TypeError(`${name} cannot be ${JSON.stringify(value) ?? 'left out'}.`);
  // Throws `URIError` for a lone surrogate, because an address cannot contain a lone surrogate.
  return encodeURIComponent(text);
}
