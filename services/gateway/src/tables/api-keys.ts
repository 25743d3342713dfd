import { hashApiKey } from '@kith/base';
import { type ApiKey, apiKeyNotice, getApiKeys } from '@kith/contracts';
import { askPages } from './ask-pages.ts';
import { Following, type FollowingOptions } from './following.ts';
import { HeardTable } from './heard-table.ts';

/**
 * The keys that operators have made, by hash. A removed key is refused as soon as the gateway hears of the removal
 * (docs/adr/0053).
 */
export class ApiKeys {
  readonly #options: FollowingOptions;
  readonly #keys = new HeardTable<ApiKey>();
  #following: Following | undefined;

  private constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /** Makes a first attempt to load the keys. Resolves even if there is no answer. Further attempts then follow. */
  static async open(options: FollowingOptions): Promise<ApiKeys> {
    const keys = new ApiKeys(options);
    const followed = {
      notice: apiKeyNotice,
      hear: ({ hash, key }: { hash: string; key: ApiKey | null }) => keys.#keys.hear(hash, key),
      load: () => keys.#load(),
    };
    keys.#following = await Following.open(followed, options);
    return keys;
  }

  /** Whether the keys have been loaded at least once. After the first load they stay in use, even while identity is away. */
  get isLoaded(): boolean {
    return this.#following?.isLoaded ?? false;
  }

  /** How long ago the keys were last loaded, in seconds. Undefined before the first load. */
  get ageSeconds(): number | undefined {
    return this.#following?.ageSeconds;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Resolves when the keys have been loaded. Throws `gateway/unavailable` if they cannot be loaded now. */
  async loaded(): Promise<void> {
    await this.#following?.loaded();
  }

  /** The key with this token, and its hash. Undefined if there is no such key. */
  find(token: string): { hash: string; key: ApiKey } | undefined {
    const hash = hashApiKey(token);
    const key = this.#keys.get(hash);
    return key && { hash, key };
  }

  async stop(): Promise<void> {
    await this.#following?.stop();
  }

  async #load(): Promise<void> {
    const { bus, timeoutMs } = this.#options;
    const { mark } = this.#keys;
    const pages = await askPages(bus, getApiKeys, { requestId: 'gateway-api-keys', timeoutMs });
    this.#keys.replace(
      pages.flatMap(({ keys }) => keys).map(({ hash, key }) => [hash, key] as const),
      mark,
    );
  }
}
