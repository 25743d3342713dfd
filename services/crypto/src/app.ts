import type { SigningKeys } from './signing-keys.ts';

/** What the handlers of this service need. The service stores nothing. */
export interface AppContext {
  /** The `aud` of every token signed here: the service's own domain. */
  tokenAudience: string;
  /** Callers' keys that were first sent within the last minute. */
  keys: SigningKeys;
}
