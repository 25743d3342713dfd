import type { Limit, OperationSpec } from '@kith/contracts';
import { ApiError } from '@kith/service';
import { limitKeyOf } from './client-ip.ts';
import type { HttpResponse } from './exchange.ts';
import type { Count, Counter, LimiterStore } from './limiter-store.ts';

/** How many times an operation's limit one client may spend over all projects, where no token is asked for. */
const ceilingFactor = 20;

interface Counters {
  limit: Limit;
  /** Per project and client. */
  pair: Counter;
  /** Per client over all projects: made-up project ids buy nothing (SPEC A5). */
  ceiling: Counter | null;
}

/** Counts requests per operation, project and client. Keys: `<prefix>:limit:<operation>:<project or ->:<client>`. */
export class RateLimits {
  readonly #counters = new Map<string, Counters>();

  constructor(options: {
    operations: readonly OperationSpec[];
    store: LimiterStore;
    prefix: string;
    /** Multiplies every limit; 0 turns limiting off. */
    scale: number;
    /** Limits by operation name that stand in for the contract's; null is none. */
    overrides: Readonly<Record<string, Limit | null>>;
  }) {
    for (const operation of options.operations) {
      const given = Object.hasOwn(options.overrides, operation.name)
        ? options.overrides[operation.name]
        : operation.limit;
      if (!given || options.scale === 0) continue;
      const limit = { ...given, max: Math.max(1, Math.round(given.max * options.scale)) };
      const keyPrefix = `${options.prefix}:limit:${operation.name}`;
      const open =
        operation.scope === 'project' && (operation.auth === 'none' || operation.auth === 'optional');
      this.#counters.set(operation.name, {
        limit,
        pair: options.store.counter({ keyPrefix, ...limit }),
        ceiling: open
          ? options.store.counter({ keyPrefix: `${keyPrefix}:*`, ...limit, max: limit.max * ceilingFactor })
          : null,
      });
    }
  }

  /** Counts a request and sets the limit's headers. Throws `rate-limit/exceeded` with `Retry-After` (SPEC A5). */
  async count(
    response: Pick<HttpResponse, 'setHeader'>,
    request: { operation: OperationSpec; projectId: string | null; clientIp: string },
  ): Promise<void> {
    const counters = this.#counters.get(request.operation.name);
    if (!counters) return;
    const client = limitKeyOf(request.clientIp);
    const { limit, pair, ceiling } = counters;
    const [own, overall] = await Promise.all([
      pair.add(`${request.projectId ?? '-'}:${client}`),
      ceiling?.add(client),
    ]);
    const states = [stateOf(own, limit.max)];
    if (overall) states.push(stateOf(overall, limit.max * ceilingFactor));
    const told = nearestToItsEnd(states);
    for (const [name, value] of Object.entries(
      limitHeaders(request.operation.name, limit, told, Date.now()),
    )) {
      response.setHeader(name, value);
    }
    if (!states.some(({ exceeded }) => exceeded)) return;
    response.setHeader('Retry-After', String(secondsLeft(told)));
    throw new ApiError('rate-limit/exceeded');
  }
}

/** What is left of a limit. */
export interface LimitState {
  remaining: number;
  msLeft: number;
  exceeded: boolean;
}

function stateOf(count: Count, max: number): LimitState {
  return { remaining: Math.max(max - count.used, 0), msLeft: count.msLeft, exceeded: count.used > max };
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
