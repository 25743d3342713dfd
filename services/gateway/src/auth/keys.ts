import { ApiError, type Logger } from '@kith/base';
import { type Bus, statusHeader } from '@kith/bus';
import { getJwks, jwks, rpcSubject } from '@kith/contracts';
import { encodeContext, Sweeper } from '@kith/service';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

/** The algorithm that signs access tokens. No other algorithm is accepted (spec#auth-algorithms). */
export const tokenAlgorithm = 'RS256';

/** The verification keys that one fetch returned. */
export interface KeySet {
  /** The keys as JSON: two sets with the same text are equal. */
  text: string;
  kids: ReadonlySet<string>;
  find: JWTVerifyGetKey;
}

export interface KeysOptions {
  bus: Bus;
  log: Logger;
  refreshMs?: number;
  /**
   * A token with an unknown key id causes a fetch. This is the minimum time between two such fetches, in ms, so that made-up
   * key ids cannot cause a flood of fetches.
   */
  cooldownMs?: number;
  timeoutMs?: number;
}

const defaults = { refreshMs: 5 * 60_000, cooldownMs: 1_000, timeoutMs: 2_000 };
const checkMs = 250;

/**
 * Identity's public keys. The gateway fetches these keys over the bus: at start, every 5 minutes, and when a token names an
 * unknown key. While identity is away, the keys that were fetched last stay in use (spec#auth-keys-stay).
 */
export class Keys {
  readonly #options: KeysOptions & typeof defaults;
  readonly #sweeper: Sweeper;
  #current: KeySet | undefined;
  #fetching: Promise<void> | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #failed = false;

  private constructor(options: KeysOptions) {
    this.#options = { ...defaults, ...options };
    this.#sweeper = new Sweeper(() => this.#refreshWhenDue(), { everyMs: checkMs, log: options.log });
  }

  /** Makes a first attempt to fetch the keys. Resolves even if there is no answer. `Keys` then tries again four times a second. */
  static async open(options: KeysOptions): Promise<Keys> {
    const keys = new Keys(options);
    await keys.#refresh();
    return keys;
  }

  /** The keys in use now. Undefined until the first fetch. If a fetch returns other keys, this is a new object. */
  get current(): KeySet | undefined {
    return this.#current;
  }

  /**
   * Returns the keys. If `kid` is not among them, fetches the keys again first. Throws `gateway/unavailable` while there are no
   * keys.
   */
  async having(kid: string): Promise<KeySet> {
    const unknown = !this.#current?.kids.has(kid);
    // If a fetch is under way, the call waits for this fetch. While there are no keys at all, every request may start a fetch,
    // because no token can be verified without keys.
    const cooled = !this.#current || performance.now() - this.#triedAt >= this.#options.cooldownMs;
    const joined = this.#fetching !== undefined;
    if (unknown && (joined || cooled)) await this.#refresh();
    // The call has waited for a fetch of another request. That fetch may have begun before identity could answer, so the call
    // fetches once more.
    if (joined && !this.#current) await this.#refresh();
    if (!this.#current) throw new ApiError('gateway/unavailable');
    return this.#current;
  }

  /** Fetches the keys again now. Called when a key was revoked, because a new key then signs the tokens. Never rejects. */
  async renew(): Promise<void> {
    // If a fetch is under way, it may have begun before the revocation. So another fetch follows it.
    await this.#fetching;
    await this.#refresh();
  }

  async stop(): Promise<void> {
    await this.#sweeper.stop();
  }

  async #refreshWhenDue(): Promise<void> {
    const due = performance.now() - this.#fetchedAt >= this.#options.refreshMs;
    if (due || this.#failed) await this.#refresh();
  }

  #refresh(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<void> {
    const { log } = this.#options;
    this.#triedAt = performance.now();
    try {
      const next = await this.#ask();
      this.#fetchedAt = performance.now();
      if (next.text !== this.#current?.text) {
        this.#current = next;
        log.info({ kids: [...next.kids] }, 'verification keys fetched');
      }
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) log.warn({ err: error }, 'cannot fetch the verification keys; retrying');
      this.#failed = true;
    }
  }

  async #ask(): Promise<KeySet> {
    const { bus, timeoutMs } = this.#options;
    const headers = encodeContext({ requestId: 'gateway-keys', deadline: Date.now() + timeoutMs });
    const reply = await bus.request(
      rpcSubject(bus.prefix, getJwks),
      { headers, body: new Uint8Array() },
      timeoutMs,
      { repeatable: true },
    );
    if (reply.headers[statusHeader] !== '200') {
      throw new Error(`${getJwks.name} answered ${reply.headers[statusHeader]}.`);
    }
    const { keys } = jwks.parse(JSON.parse(new TextDecoder().decode(reply.body)));
    const usable = keys.filter(
      ({ kty, use, alg }) =>
        kty === 'RSA' && (use ?? 'sig') === 'sig' && (alg ?? tokenAlgorithm) === tokenAlgorithm,
    );
    if (usable.length === 0) throw new Error(`${getJwks.name} returned no ${tokenAlgorithm} key.`);
    return {
      text: JSON.stringify(usable),
      kids: new Set(usable.map(({ kid }) => kid)),
      find: createLocalJWKSet({ keys: usable } as JSONWebKeySet),
    };
  }
}
