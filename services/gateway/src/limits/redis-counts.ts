import type { Redis } from 'ioredis';
import type { Count, Counting } from './count.ts';

/**
 * Counts requests in groups. The requests of a group belong to the same pair of project and client (`Counting.key`). A group is
 * first counted under its ceiling. The requests that the ceiling lets through are then counted under the pair. KEYS of a group:
 * ceiling, pair. ARGV of a group: requests, window of the pair, maximum of the ceiling (0 means none), window of the ceiling.
 * Returns four numbers for each group: requests that were let through, the pair's count after that, ms left of the pair's
 * window, ms left of the ceiling's window.
 */
const script = `
local call = redis.call
local function left(key, seconds)
  local ms = call('PTTL', key)
  if ms >= 0 then return ms end
  call('PEXPIRE', key, 1000 * seconds)
  return 1000 * seconds
end
local told = {}
for at = 1, #KEYS, 2 do
  local base = 2 * at - 2
  local most = tonumber(ARGV[base + 3])
  local passed, ceilingLeft, used, pairLeft = tonumber(ARGV[base + 1]), 0, 0, 0
  if most > 0 then
    local count = passed
    local all = call('INCRBY', KEYS[at], count)
    if all == count then call('PEXPIRE', KEYS[at], 1000 * ARGV[base + 4]) end
    if all > most then
      passed = most + count - all
      if passed < 0 then passed = 0 end
      ceilingLeft = left(KEYS[at], ARGV[base + 4])
    end
  end
  if passed > 0 then
    used = call('INCRBY', KEYS[at + 1], passed)
    pairLeft = left(KEYS[at + 1], ARGV[base + 2])
  end
  told[base + 1], told[base + 2], told[base + 3], told[base + 4] = passed, used, pairLeft, ceilingLeft
end
return told`;

interface Group {
  of: Counting;
  waiting: { resolve: (count: Count) => void; reject: (error: unknown) => void }[];
}

type Counted = Redis & { kithCount(keys: number, ...words: (string | number)[]): Promise<number[]> };

/**
 * Counts requests in Redis. One script counts all requests that come in one turn of the event loop. So these requests take only
 * one round trip. Requests with the same key are counted as one group. With 32 requests at the same time, a request takes 3 µs
 * of CPU time. With rate-limiter-flexible on the same Redis, it takes 11 to 16 µs, and Redis has five times the work
 * (docs/adr/0022).
 */
export class RedisCounts {
  readonly #redis: Counted;
  readonly #patienceMs: number;
  #groups = new Map<string, Group>();
  /** How many scripts Redis has not answered yet. */
  #unanswered = 0;
  /**
   * Whether a script was late and Redis still has scripts to answer. Until Redis has answered them, it gets no more scripts.
   * Further scripts would be late, too, and would fill the memory if Redis stayed slow.
   */
  #isBehind = false;

  /** @param options.patienceMs How long a count may take before it is given up. */
  constructor(redis: Redis, options: { patienceMs: number }) {
    redis.defineCommand('kithCount', { lua: script });
    this.#redis = redis as Counted;
    this.#patienceMs = options.patienceMs;
  }

  /** Counts a request. A key's first request begins a window. Rejects if Redis is away, behind, or takes too long. */
  count(of: Counting): Promise<Count> {
    if (this.#redis.status !== 'ready') return Promise.reject(new Error('Redis is not connected.'));
    if (this.#isBehind) return Promise.reject(new Error('Redis is behind.'));
    return new Promise((resolve, reject) => {
      if (this.#groups.size === 0) setImmediate(() => this.#send());
      const group = this.#groups.get(of.key);
      if (group) group.waiting.push({ resolve, reject });
      else this.#groups.set(of.key, { of, waiting: [{ resolve, reject }] });
    });
  }

  #send(): void {
    const groups = [...this.#groups.values()];
    this.#groups = new Map();
    const keys: string[] = [];
    const words: number[] = [];
    for (const { of, waiting } of groups) {
      const { key, windowSeconds, ceiling } = of;
      keys.push(ceiling?.key ?? key, key);
      words.push(waiting.length, windowSeconds, ceiling?.max ?? 0, ceiling?.windowSeconds ?? 0);
    }
    const asked = this.#redis.kithCount(keys.length, ...keys, ...words);
    this.#unanswered++;
    const answered = () => {
      this.#unanswered--;
      if (this.#unanswered === 0) this.#isBehind = false;
    };
    asked.then(answered, answered);
    const late = () => {
      this.#isBehind = true;
    };
    within(asked, this.#patienceMs, late).then(
      (told) => {
        for (const [at, { waiting }] of groups.entries()) {
          const [passed = 0, used = 0, msLeft = 0, ceilingLeft = 0] = told.slice(4 * at, 4 * at + 4);
          for (const [turn, { resolve }] of waiting.entries()) {
            if (turn < passed) resolve({ isOverCeiling: false, used: used - passed + turn + 1, msLeft });
            else resolve({ isOverCeiling: true, used: 0, msLeft: ceilingLeft });
          }
        }
      },
      (error) => {
        for (const { waiting } of groups) for (const { reject } of waiting) reject(error);
      },
    );
  }
}

/**
 * Waits at most `ms` for an answer, and calls `late` when it gives up. An answer that has arrived by then is still used, even
 * if this process was too busy to read it. So after the timer, this function waits for one more turn of the event loop before
 * it gives up. With ioredis' own `commandTimeout`, a pause of this process would look like a failure of Redis.
 */
function within<T>(work: Promise<T>, ms: number, late: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const giveUp = () => {
      if (isOver) return;
      late();
      reject(new Error(`Redis has not answered in ${ms} ms.`));
    };
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(resolve, reject).finally(() => {
      isOver = true;
      clearTimeout(timer);
    });
  });
}
