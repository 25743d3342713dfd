import { methodsOf, type OperationSpec } from '@kith/contracts';
import { allowOf, isUuid, paramsOf, type Route, type RouteTable } from './routes.ts';

/** The meaning of a request's method and target, in any of the forms of spec#addresses-forms. */
export type Address =
  | {
      kind: 'operation';
      operation: OperationSpec;
      wireVersion: 'v6' | 'v7';
      /** The version prefix as sent, for example `/api/v6`. Empty if the address has no version prefix. */
      form: string;
      /** The id of the project, in lower case. */
      projectId: string | null;
      /** Whether the address is a short form, which names no project (spec#short-forms-addresses). */
      isShort: boolean;
      params: Record<string, string>;
      /** The query as sent, without the question mark. */
      query: string;
    }
  | { kind: 'options'; allow: string }
  | { kind: 'error'; code: 'route/not-found' | 'project/invalid-id' }
  | { kind: 'error'; code: 'route/method-not-allowed'; allow: string };

/**
 * An address that begins with one of these segments (after the version) names no project. The token then names the project
 * (spec#short-forms-addresses).
 */
const shortForms: ReadonlySet<string> = new Set(['connections', 'users', 'blocks']);
const everything = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const notFound: Address = { kind: 'error', code: 'route/not-found' };
const invalidProject: Address = { kind: 'error', code: 'project/invalid-id' };

/**
 * Reads an address: version prefix, project, a second version after the project, endpoint. Never throws, no matter what the
 * target contains.
 */
export function readAddress(routes: RouteTable, method: string, target: string): Address {
  if (target === '*') return method === 'OPTIONS' ? { kind: 'options', allow: everything } : notFound;
  const [path, query] = splitTarget(target);
  const segments = path.split('/').map(decodeSegment);
  if (segments.shift() !== '') return notFound;
  if (segments.length > 1 && segments.at(-1) === '') segments.pop();

  const outer = takeVersion(segments);
  const [first] = segments;
  if (first === undefined || (segments.length === 1 && first === '')) return notFound;
  if (!isUuid(first)) {
    const unscoped = { projectId: null, query };
    if (outer) {
      if (!shortForms.has(first)) return invalidProject;
      const short = routes.match('project', segments).filter(({ operation }) => operation.shortForm);
      const { version: wireVersion, text: form } = outer;
      return choose(short, method, segments, { wireVersion, form, isShort: true, ...unscoped });
    }
    const found = routes.match('none', segments);
    return choose(found, method, segments, { wireVersion: 'v6', form: '', isShort: false, ...unscoped });
  }
  segments.shift();
  const inner = takeVersion(segments);
  const wireVersion = (outer ?? inner)?.version ?? 'v6';
  const found = routes.match('project', segments);
  const form = outer?.text ?? '';
  return choose(found, method, segments, {
    wireVersion,
    form,
    isShort: false,
    projectId: first.toLowerCase(),
    query,
  });
}

/** The project that a target names, even if no endpoint has this address. Null if the target names no project. */
export function projectIn(target: string): string | null {
  // In the longest form, two segments (`api` and the version) precede the project. So the project is in the first four parts of
  // the path, of which the first is empty.
  const segments = splitTarget(target)[0].split('/', 4).map(decodeSegment);
  if (segments.shift() !== '') return null;
  takeVersion(segments);
  const [first = ''] = segments;
  return isUuid(first) ? first.toLowerCase() : null;
}

/** Whether a target is an operators' address, even if no endpoint has this address. */
export function isAdmin(target: string): boolean {
  const [, first = ''] = splitTarget(target)[0].split('/', 2);
  return decodeSegment(first) === 'admin';
}

/** Among the routes that match the path, picks the most exact route that takes the method. */
function choose(
  found: readonly Route[],
  method: string,
  path: readonly string[],
  rest: Pick<
    Extract<Address, { kind: 'operation' }>,
    'wireVersion' | 'form' | 'isShort' | 'projectId' | 'query'
  >,
): Address {
  if (found.length === 0) return notFound;
  if (method === 'OPTIONS') return { kind: 'options', allow: allowOf(found) };
  const wanted = method === 'HEAD' ? 'GET' : method;
  const route = found.find(({ operation }) => methodsOf(operation).some((one) => one === wanted));
  if (!route) return { kind: 'error', code: 'route/method-not-allowed', allow: allowOf(found) };
  return { kind: 'operation', operation: route.operation, params: paramsOf(route, path), ...rest };
}

/** Removes a leading `v6`, `v7`, `api/v6` or `api/v7`. */
function takeVersion(segments: string[]): { version: 'v6' | 'v7'; text: string } | undefined {
  const length = segments[0] === 'api' ? 2 : 1;
  const version = segments[length - 1];
  if (version !== 'v6' && version !== 'v7') return undefined;
  return { version, text: `/${segments.splice(0, length).join('/')}` };
}

/** Path and query of a target in origin form or absolute form (RFC 9112 section 3.2). */
export function splitTarget(target: string): [path: string, query: string] {
  const isOrigin = target.startsWith('/') && !target.includes('#');
  const relative = isOrigin
    ? target
    : (target.replace(/^https?:\/\/[^/?#]*/i, '').split('#', 1)[0] as string);
  const mark = relative.indexOf('?');
  if (mark < 0) return [relative, ''];
  return [relative.slice(0, mark), relative.slice(mark + 1)];
}

/**
 * Decodes a segment on its own, so that `%2F` does not end the segment. If a segment cannot be decoded, it stays as it is and
 * matches nothing.
 */
function decodeSegment(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
