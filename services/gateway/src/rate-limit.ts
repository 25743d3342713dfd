import type { Limit, OperationSpec } from '@kith/contracts';
import { ApiError } from '@kith/service';
import type { Counter, LimiterStore } from './limiter-store.ts';
import type { ProjectSettings } from './project-settings.ts';

/** How many times an operation's limit one client may spend over all projects, where no token is asked for. */
const ceilingFactor = 20;

interface Counters {
  /** The contract's limit, or the configuration's, scaled; null is none. */
  limit: Limit | null;
  /** Per project and client. */
  pair: Counter;
  /** Per client over all projects: made-up project ids buy nothing (SPEC A5). */
  ceiling: Counter;
  hasCeiling: boolean;
}

/** Counts requests per operation, project and client. Keys: `<prefix>:limit:<operation>:<project or ->:<client>`. */
export class RateLimits {
  readonly #counters = new Map<string, Counters>();
  readonly #scale: number;
  readonly #projects: Pick<ProjectSettings, 'of'>;

  constructor(options: {
    operations: readonly OperationSpec[];
    store: LimiterStore;
    prefix: string;
    /** Multiplies every limit; 0 turns limiting off. */
    scale: number;
    /** Limits by operation name that stand in for the contract's; null is none. */
    overrides: Readonly<Record<string, Limit | null>>;
    /** Their limits stand in for both. */
    projects: Pick<ProjectSettings, 'of'>;
  }) {
    this.#scale = options.scale;
    this.#projects = options.projects;
    for (const operation of options.operations) {
      const { name, scope, auth } = operation;
      const keyPrefix = `${options.prefix}:limit:${name}`;
      const given = ofOperation(options.overrides, name);
      this.#counters.set(name, {
        limit: this.#scaled(given === undefined ? operation.limit : given),
        pair: options.store.counter(keyPrefix),
        ceiling: options.store.counter(`${keyPrefix}:*`),
        hasCeiling: scope === 'project' && (auth === 'none' || auth === 'optional'),
      });
    }
  }

  /** Counts a request, and sets the limit's headers among those given. Throws `rate-limit/exceeded` with `Retry-After` (SPEC A5). */
  async count(
    headers: Record<string, string>,
    request: { operation: OperationSpec; projectId: string | null; clientKey: string },
  ): Promise<void> {
    const { name } = request.operation;
    const counters = this.#counters.get(name);
    if (!counters || this.#scale === 0) return;
    const usual = counters.limit;
    const own = ofOperation(this.#projects.of(request.projectId).limits, name);
    const limit = own === undefined ? usual : this.#scaled(own);
    if (!limit) return;
    const client = request.clientKey;
    // A count goes on when the number changes. A window of another length is counted apart: the running one may end
    // long after it should.
    const isOwnWindow = limit.windowSeconds !== usual?.windowSeconds;
    const key = `${request.projectId ?? '-'}:${client}${isOwnWindow ? `@${limit.windowSeconds}` : ''}`;
    const counts = [held(counters.pair, key, limit)];
    if (counters.hasCeiling && usual && !isRaised(limit, usual)) {
      counts.push(held(counters.ceiling, client, { ...usual, max: usual.max * ceilingFactor }));
    }
    const states = await Promise.all(counts);
    const told = nearestToItsEnd(states);
    Object.assign(headers, limitHeaders(name, limit, told, Date.now()));
    if (!states.some(({ exceeded }) => exceeded)) return;
    headers['Retry-After'] = String(secondsLeft(told));
    throw new ApiError('rate-limit/exceeded');
  }

  #scaled(limit: Limit | null): Limit | null {
    return limit && { ...limit, max: Math.max(1, Math.round(limit.max * this.#scale)) };
  }
}

/** The limit given for an operation; undefined where none is given, null where it has none. */
function ofOperation(limits: Readonly<Record<string, Limit | null>>, name: string): Limit | null | undefined {
  return Object.hasOwn(limits, name) ? limits[name] : undefined;
}

/**
 * Whether a project lets through more than is usual, in number or in rate. What an operator has granted there is not
 * held against the ceiling, nor used up by it for other projects; a made-up project has been granted nothing.
 */
function isRaised(own: Limit, usual: Limit): boolean {
  return own.max > usual.max || own.max * usual.windowSeconds > usual.max * own.windowSeconds;
}

async function held(counter: Counter, key: string, limit: Limit): Promise<LimitState> {
  const { used, msLeft } = await counter.add(key, limit.windowSeconds);
  return { remaining: Math.max(limit.max - used, 0), msLeft, exceeded: used > limit.max };
}

/** What is left of a limit. */
export interface LimitState {
  remaining: number;
  msLeft: number;
  exceeded: boolean;
}

/**
 * The state the headers tell of: they name the operation's own policy always, and what is left is that of the counter
 * that will refuse first, so that a client that goes by them is never refused.
 */
export function nearestToItsEnd(states: readonly LimitState[]): LimitState {
  const [nearest] = states.toSorted(
    (a, b) =>
      Number(b.exceeded) - Number(a.exceeded) ||
      a.remaining - b.remaining ||
      // Both used up: waiting for the first to end would meet the second.
      b.msLeft - a.msLeft,
  );
  return nearest as LimitState;
}

/** The headers of a limited answer: draft-ietf-httpapi-ratelimit-headers-10, and the older `X-RateLimit-*`. */
export function limitHeaders(
  name: string,
  limit: Limit,
  state: LimitState,
  now: number,
): Record<string, string> {
  return {
    'RateLimit-Policy': `"${name}";q=${limit.max};w=${limit.windowSeconds}`,
    RateLimit: `"${name}";r=${Math.min(state.remaining, limit.max)};t=${secondsLeft(state)}`,
    'X-RateLimit-Limit': String(limit.max),
    'X-RateLimit-Remaining': String(Math.min(state.remaining, limit.max)),
    'X-RateLimit-Reset': String(Math.ceil((now + state.msLeft) / 1000)),
  };
}

function secondsLeft(state: LimitState): number {
  return Math.max(1, Math.ceil(state.msLeft / 1000));
}
