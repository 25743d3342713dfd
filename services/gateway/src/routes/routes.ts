import { StartError } from '@kith/base';
import { type Method, methodsOf, type OperationSpec } from '@kith/contracts';

type Segment =
  | { literal: string }
  | {
      param: string;
      /** Whether the value is a UUID. A UUID matches in upper and lower case (spec#addresses-uuid-case). */
      isUuid: boolean;
    };

/** An operation with its path split into segments. */
export interface Route {
  operation: OperationSpec;
  segments: readonly Segment[];
}

const literalForm = /^[a-z0-9.][a-z0-9.-]*$/;
const paramForm = /^:[A-Za-z][A-Za-z0-9]*$/;
const nameForm = /^[a-z]+\.[a-z0-9-]+$/;
const versionWords = new Set(['api', 'v6', 'v7']);
/**
 * The paths of the reference begin with these segments. The reference is served first, so an operation without a project must
 * not have such a path.
 */
const referenceWords = new Set(['docs', 'openapi.json']);
const anyUuid = '0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9';
const order: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * The routes of the API, compiled once from the contracts. If an operation cannot be routed, throws a `StartError` that names
 * the operation.
 */
export class RouteTable {
  readonly #byLength = new Map<string, Route[]>();

  constructor(operations: readonly OperationSpec[]) {
    const taken = new Map<string, string>();
    for (const operation of operations) {
      const route = compile(operation);
      for (const method of methodsOf(operation)) {
        const shape = route.segments.map((segment) => ('literal' in segment ? segment.literal : ':'));
        const key = `${operation.scope} ${method} ${shape.join('/')}`;
        const other = taken.get(key);
        if (other) throw bad(operation, `its address is already the address of ${other}`);
        taken.set(key, operation.name);
      }
      const bucket = `${operation.scope} ${route.segments.length}`;
      this.#byLength.set(bucket, [...(this.#byLength.get(bucket) ?? []), route].sort(literalsFirst));
    }
  }

  /**
   * All routes of a scope that match a path. Routes with a literal come before routes with a parameter at the same position.
   */
  match(scope: OperationSpec['scope'], path: readonly string[]): readonly Route[] {
    const candidates = this.#byLength.get(`${scope} ${path.length}`) ?? [];
    return candidates.filter(({ segments }) =>
      segments.every((segment, at) =>
        'literal' in segment ? segment.literal === path[at] : path[at] !== '',
      ),
    );
  }
}

/**
 * The values of a path's segments, each under the name of the route's parameter at the same position. UUIDs are in lower case.
 * Other values stay as they were sent: an application's own id may look like a UUID.
 */
export function paramsOf(route: Route, path: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, segment] of route.segments.entries()) {
    if (!('param' in segment)) continue;
    const value = path[at] ?? '';
    params[segment.param] = segment.isUuid ? lowerUuid(value) : value;
  }
  return params;
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuidForm.test(text);
}

function lowerUuid(text: string): string {
  return isUuid(text) ? text.toLowerCase() : text;
}

/**
 * The value of `Allow` for routes that share a path. If GET is allowed, HEAD is allowed, too. OPTIONS is always allowed
 * (spec#addresses-wrong-method, spec#addresses-head).
 */
export function allowOf(routes: readonly Route[]): string {
  const methods = new Set(routes.flatMap(({ operation }) => methodsOf(operation)));
  return [...order.filter((method) => methods.has(method)), 'OPTIONS'].join(', ').replace('GET', 'GET, HEAD');
}

function compile(operation: OperationSpec): Route {
  if (!nameForm.test(operation.name)) throw bad(operation, 'its name is not <service>.<operation>');
  const { limit } = operation;
  if (limit && !(limit.max >= 1 && limit.windowSeconds >= 1))
    throw bad(operation, 'its limit is not positive');
  const segments = operation.path
    .slice(1)
    .split('/')
    .map((text): Segment => {
      if (literalForm.test(text)) return { literal: text };
      if (paramForm.test(text)) {
        const param = text.slice(1);
        const parsed = operation.params.shape[param]?.safeParse(anyUuid);
        return { param, isUuid: parsed?.data === anyUuid.toLowerCase() };
      }
      throw bad(operation, `its path ${operation.path} has a bad segment`);
    });
  const first = segments[0];
  if (!first || !('literal' in first) || versionWords.has(first.literal)) {
    throw bad(operation, `its path ${operation.path} starts with a version or with a parameter`);
  }
  if (operation.scope === 'none' && referenceWords.has(first.literal)) {
    throw bad(operation, `its path ${operation.path} belongs to the reference`);
  }
  const named = segments.flatMap((segment) => ('param' in segment ? [segment.param] : []));
  const wanted = Object.keys(operation.params.shape);
  if (named.toSorted().join() !== wanted.toSorted().join()) {
    throw bad(operation, `its path ${operation.path} and its params do not name the same parameters`);
  }
  return { operation, segments };
}

function literalsFirst(a: Route, b: Route): number {
  for (const [at, segment] of a.segments.entries()) {
    const other = b.segments[at] as Segment;
    if ('literal' in segment !== 'literal' in other) return 'literal' in segment ? -1 : 1;
  }
  return 0;
}

function bad(operation: OperationSpec, reason: string): StartError {
  return new StartError(`The contract's entry ${operation.name} cannot be routed: ${reason}.`);
}
