import { ApiError } from '@kith/base';
import type { Limit, OperationSpec } from '@kith/contracts';
import type { ProjectSettings } from '../tables/project-settings.ts';
import type { Count } from './count.ts';
import type { LimiterStore } from './limiter-store.ts';

/** How often one client may fail to identify as an operator (spec#operators-limit). */
const operatorFailures = { name: 'operator-failures', limit: { max: 10, windowSeconds: 300 } } as const;

/** The ceiling of one client over all projects, in multiples of an operation's limit (spec#limits-ceiling). */
const ceilingFactor = 20;
/** The limit of a server key, in multiples of an operation's limit (spec#limits-server-keys). */
const serverKeyFactor = 20;

interface Counted {
  /** The limit of the contract or of the configuration, scaled. Null means no limit. */
  limit: Limit | null;
  /** The prefix of the keys under which the operation's requests are counted. */
  prefix: string;
  /**
   * Whether the operation's requests are counted towards a ceiling. If an operation's addresses name no project, the operation
   * has only one counter for each client. The client then reaches the limit long before a ceiling.
   */
  hasCeiling: boolean;
}

/**
 * Counts requests. Each request is counted first per operation and client over all projects, and then per operation, project
 * and client. So with made-up project ids, a client gets no more requests and no more memory than the ceiling allows
 * (docs/adr/0032). Keys: `<prefix>:limit:<operation>:<project>:<client>`, with `-` for no project and `*` for all projects.
 */
export class RateLimits {
  readonly #counted = new Map<string, Counted>();
  readonly #store: LimiterStore;
  readonly #scale: number;
  readonly #projects: Pick<ProjectSettings, 'of'>;
  readonly #saysSetting: boolean;
  readonly #failures: { limit: Limit | null; key: string };

  constructor(options: {
    operations: readonly OperationSpec[];
    store: LimiterStore;
    prefix: string;
    /** Multiplies every limit; 0 turns limiting off. */
    scale: number;
    /** The limits that replace the contract's limits, by the name of the operation; null means no limit. */
    overrides: Readonly<Record<string, Limit | null>>;
    /** The projects. A project's own limits replace both the contract's limits and `overrides`. */
    projects: Pick<ProjectSettings, 'of'>;
    /** Whether a refusal names the setting that raises the limit. True only in development. */
    saysSetting?: boolean;
  }) {
    this.#saysSetting = options.saysSetting ?? false;
    this.#scale = options.scale;
    this.#store = options.store;
    this.#projects = options.projects;
    this.#failures = {
      limit: this.#scaled(operatorFailures.limit),
      key: `${options.prefix}:limit:${operatorFailures.name}:-`,
    };
    for (const operation of options.operations) {
      const { name, scope, auth } = operation;
      // Requests with a valid operator's token are never limited, so operators' operations get no limit.
      if (auth === 'operator') continue;
      const given = ofOperation(options.overrides, name);
      this.#counted.set(name, {
        limit: this.#scaled(given === undefined ? operation.limit : given),
        prefix: `${options.prefix}:limit:${name}`,
        hasCeiling: scope === 'project',
      });
    }
  }

  /**
   * Counts a request, and sets the limit's headers in `headers`. If the request is over the limit, throws `rate-limit/exceeded`
   * with `Retry-After` (spec#limits-headers, spec#limits-exceeded).
   */
  async count(
    headers: Record<string, string>,
    request: {
      operation: OperationSpec;
      projectId: string | null;
      clientKey: string;
      /**
       * The id of the server key, if the request has a known server key. The request is then counted for the key, not for the
       * client.
       */
      serverKeyId?: string | undefined;
    },
  ): Promise<void> {
    const { name } = request.operation;
    const counted = this.#counted.get(name);
    if (!counted || this.#scale === 0) return;
    const { limit: usual, prefix } = counted;
    const own = ofOperation(this.#projects.of(request.projectId).limits, name);
    const ofClient = own === undefined ? usual : this.#scaled(own);
    if (!ofClient) return;
    const { serverKeyId } = request;
    const limit = serverKeyId ? { ...ofClient, max: ofClient.max * serverKeyFactor } : ofClient;
    const { windowSeconds } = limit;
    const client = serverKeyId ? `key=${serverKeyId}` : request.clientKey;
    // If a project's limit has the same window as the usual limit, the requests stay in the usual count. If the project's window
    // has another length, the project gets a count of its own, because the present window of the usual count may end much later.
    const isOwnWindow = windowSeconds !== usual?.windowSeconds;
    const key = `${prefix}:${request.projectId ?? '-'}:${client}${isOwnWindow ? `@${windowSeconds}` : ''}`;
    const ceiling =
      counted.hasCeiling && usual && !serverKeyId && !isRaised(limit, usual)
        ? { key: `${prefix}:*:${client}`, max: usual.max * ceilingFactor, windowSeconds: usual.windowSeconds }
        : null;
    const count = await this.#store.count({ key, windowSeconds, ceiling });
    Object.assign(headers, limitHeaders(name, limit, count, Date.now()));
    if (!count.isOverCeiling && count.used <= limit.max) return;
    headers['Retry-After'] = String(secondsLeft(count));
    throw new ApiError('rate-limit/exceeded', this.#saysSetting ? { message: widening(name) } : {});
  }

  /**
   * Counts a failure to identify as an operator, and sets the headers of its limit. Throws `rate-limit/exceeded` after 10
   * failures in 5 minutes (spec#operators-limit).
   */
  async countOperatorFailure(headers: Record<string, string>, clientKey: string): Promise<void> {
    const { limit, key } = this.#failures;
    if (!limit || this.#scale === 0) return;
    const { windowSeconds } = limit;
    const count = await this.#store.count({ key: `${key}:${clientKey}`, windowSeconds, ceiling: null });
    Object.assign(headers, limitHeaders(operatorFailures.name, limit, count, Date.now()));
    if (count.used <= limit.max) return;
    headers['Retry-After'] = String(secondsLeft(count));
    throw new ApiError('rate-limit/exceeded');
  }

  #scaled(limit: Limit | null): Limit | null {
    return limit && { ...limit, max: Math.max(1, Math.round(limit.max * this.#scale)) };
  }
}

/** The message that tells developers how to raise or remove a limit (docs/configuration.md). */
function widening(name: string): string {
  return `Too many requests. Try again later, or change the limits: RATE_LIMIT_SCALE=10 raises all limits, RATE_LIMITS='{"${name}":null}' removes this one.`;
}

/**
 * Looks up the limit of an operation. Returns undefined if `limits` does not name the operation, and null if the operation has
 * no limit.
 */
function ofOperation(limits: Readonly<Record<string, Limit | null>>, name: string): Limit | null | undefined {
  return Object.hasOwn(limits, name) ? limits[name] : undefined;
}

/**
 * Whether a project's limit is higher than usual, in number or in rate. If it is, only this limit applies in the project, and
 * requests there do not use up the ceiling over all projects. A made-up project has no limit of its own, so it does not help a
 * client to get around the ceiling.
 */
function isRaised(own: Limit, usual: Limit): boolean {
  return own.max > usual.max || own.max * usual.windowSeconds > usual.max * own.windowSeconds;
}

/**
 * The headers of a limited answer: draft-ietf-httpapi-ratelimit-headers-10, and the older `X-RateLimit-*`. The headers describe
 * the limit of the pair of project and client. If the ceiling refuses the request, the headers say that nothing is left until
 * the window of the ceiling ends.
 */
export function limitHeaders(name: string, limit: Limit, count: Count, now: number): Record<string, string> {
  const left = count.isOverCeiling ? 0 : Math.max(limit.max - count.used, 0);
  return {
    'RateLimit-Policy': `"${name}";q=${limit.max};w=${limit.windowSeconds}`,
    RateLimit: `"${name}";r=${left};t=${secondsLeft(count)}`,
    'X-RateLimit-Limit': String(limit.max),
    'X-RateLimit-Remaining': String(left),
    'X-RateLimit-Reset': String(Math.ceil((now + count.msLeft) / 1000)),
  };
}

function secondsLeft({ msLeft }: Count): number {
  return Math.max(1, Math.ceil(msLeft / 1000));
}
