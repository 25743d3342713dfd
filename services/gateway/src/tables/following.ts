import { ApiError, type Logger, within } from '@kith/base';
import { type Bus, type Intake, listenAtStart } from '@kith/bus';
import { noticeSubject } from '@kith/contracts';
import { Sweeper } from '@kith/service';
import type { z } from 'zod';

export interface FollowingOptions {
  bus: Bus;
  log: Logger;
  refreshMs?: number;
  timeoutMs?: number;
}

/**
 * One of identity's tables, of which the gateway has a copy. Notices report changes of the table, and the gateway can ask for
 * the whole table.
 */
export interface Followed<Body extends z.ZodType> {
  notice: { readonly name: string; readonly body: Body };
  hear(notice: z.output<Body>): void;
  /** Asks for the whole table, and replaces the gateway's copy with the answer. */
  load(): Promise<void>;
}

const refreshMs = 30_000;
const checkMs = 250;
const requestMs = 4_000;

/**
 * Follows a table: listens for the notices of the table's changes. Also loads the whole table at start, after each break of the
 * bus, and every 30 s. So the gateway also learns of changes whose notices it has missed (ARCHITECTURE, decision 11).
 */
export class Following {
  readonly #name: string;
  readonly #load: () => Promise<void>;
  readonly #log: Logger;
  readonly #refreshMs: number;
  readonly #sweeper: Sweeper;
  #intake: Intake | undefined;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #isDue = true;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #isStopped = false;

  private constructor(name: string, load: () => Promise<void>, options: FollowingOptions) {
    this.#name = name;
    this.#load = load;
    this.#log = options.log;
    this.#refreshMs = options.refreshMs ?? refreshMs;
    this.#sweeper = new Sweeper(() => this.#loadWhenDue(), { everyMs: checkMs, log: options.log });
  }

  /**
   * Listens for notices, then makes a first attempt to load the table. If the attempt fails, tries again four times a second.
   * Waits for the first attempt only as long as a request would wait, because the gateway is not reachable until then.
   */
  static async open<Body extends z.ZodType>(
    followed: Followed<Body>,
    options: FollowingOptions,
  ): Promise<Following> {
    const { bus } = options;
    const { notice } = followed;
    const following = new Following(notice.name, () => followed.load(), options);
    following.#intake = await listenAtStart(bus, noticeSubject(bus.prefix, notice), ({ body }) =>
      followed.hear(notice.body.parse(JSON.parse(new TextDecoder().decode(body)))),
    );
    bus.onReconnect(() => {
      following.#isDue = true;
      void following.#loadWhenDue();
    });
    await within(following.#loadWhenDue(), requestMs);
    return following;
  }

  /** Whether the table has been loaded at least once. After the first load it stays in use, even while identity is away. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** How long ago the table was last loaded, in seconds. Undefined before the first load. */
  get ageSeconds(): number | undefined {
    return this.#isLoaded ? (performance.now() - this.#loadedAt) / 1000 : undefined;
  }

  /** Resolves if the table has been loaded. Otherwise tries to load it now. Throws `gateway/unavailable` if this fails or takes long. */
  async loaded(): Promise<void> {
    // A load may take longer than a request can wait.
    if (!this.#isLoaded) await within(this.#loadWhenDue(), requestMs);
    if (!this.#isLoaded) throw new ApiError('gateway/unavailable');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#sweeper.stop();
    await this.#intake?.drain();
    await this.#loading;
  }

  async #loadWhenDue(): Promise<void> {
    // A load that is under way may have begun too early to see the latest change. So this method waits for that load, and then
    // checks whether another load is due.
    if (this.#loading) await this.#loading;
    const isOld = performance.now() - this.#loadedAt >= this.#refreshMs;
    if (this.#isStopped || (!this.#isDue && !isOld)) return;
    this.#loading ??= this.#loadNow().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #loadNow(): Promise<void> {
    this.#isDue = false;
    try {
      await this.#load();
      this.#loadedAt = performance.now();
      this.#isLoaded = true;
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#log.warn({ err: error }, `cannot load ${this.#name}; retrying`);
      this.#hasFailed = true;
      this.#isDue = true;
    }
  }
}
