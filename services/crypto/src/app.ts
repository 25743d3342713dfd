import type { SigningKeys } from './signing-keys.ts';

/** What the handlers of this service need. The service stores nothing. */
export interface AppContext {
  /** The `aud` of every token that this service signs: the domain of this platform. */
  tokenAudience: string;
  /** Callers' keys that were first sent within the last minute. */
  keys: SigningKeys;
}
