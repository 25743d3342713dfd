import type { Redis } from 'ioredis';
import type { Count } from './limiter-store.ts';

/** Adds to each counter, and gives what it then holds and how many ms of its window are left, one after the other. */
const script = `
local told = {}
for at, key in ipairs(KEYS) do
  local used = redis.call('INCRBY', key, ARGV[2 * at])
  local left = redis.call('PTTL', key)
  if left < 0 then
    left = 1000 * ARGV[2 * at - 1]
    redis.call('PEXPIRE', key, left)
  end
  told[2 * at - 1] = used
  told[2 * at] = left
end
return told`;

interface Counting {
  windowSeconds: number;
  waiting: { resolve: (count: Count) => void; reject: (error: unknown) => void }[];
}

type Counted = Redis & { kithCount(keys: number, ...words: (string | number)[]): Promise<number[]> };

/**
 * Counts in Redis, all that one turn of the loop brings in one script: requests that come in together make one trip, and
 * those of one key one count. Measured beside rate-limiter-flexible on the same Redis, 32 requests at once: 3 µs of CPU
 * time a request instead of 11 to 16, and a fifth of the work in Redis (docs/adr/0022).
 */
export class RedisCounts {
  readonly #redis: Counted;
  readonly #patienceMs: number;
  #counting = new Map<string, Counting>();

  /** @param options.patienceMs What a count may take before it is given up. */
  constructor(redis: Redis, options: { patienceMs: number }) {
    redis.defineCommand('kithCount', { lua: script });
    this.#redis = redis as Counted;
    this.#patienceMs = options.patienceMs;
  }

  /** Counts a key once more; its first time begins a window. Rejects while Redis is away, or takes too long. */
  add(key: string, windowSeconds: number): Promise<Count> {
    if (this.#redis.status !== 'ready') return Promise.reject(new Error('Redis is not connected.'));
    return new Promise((resolve, reject) => {
      if (this.#counting.size === 0) setImmediate(() => this.#send());
      const counting = this.#counting.get(key);
      if (counting) counting.waiting.push({ resolve, reject });
      else this.#counting.set(key, { windowSeconds, waiting: [{ resolve, reject }] });
    });
  }

  #send(): void {
    const counting = [...this.#counting];
    this.#counting = new Map();
    const keys = counting.map(([key]) => key);
    const words = counting.flatMap(([, { windowSeconds, waiting }]) => [windowSeconds, waiting.length]);
    within(this.#redis.kithCount(keys.length, ...keys, ...words), this.#patienceMs).then(
      (told) => {
        for (const [at, [, { waiting }]] of counting.entries()) {
          const [used = 0, msLeft = 0] = told.slice(2 * at, 2 * at + 2);
          for (const [turn, { resolve }] of waiting.entries()) {
            resolve({ used: used - waiting.length + turn + 1, msLeft });
          }
        }
      },
      (error) => {
        for (const [, { waiting }] of counting) for (const { reject } of waiting) reject(error);
      },
    );
  }
}

/**
 * Waits at most `ms`. What has arrived by then counts, also if this process was too busy to look: one turn of the loop
 * lies between the timer and giving up. ioredis' own `commandTimeout` would blame Redis for our pauses.
 */
function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`Redis has not answered in ${ms} ms.`));
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
