import type { SigningKeys } from './signing-keys.ts';

/** What the handlers of this service stand on. It stores nothing. */
export interface AppContext {
  /** The `aud` of every token signed here: the service's own domain. */
  tokenAudience: string;
  /** Callers' keys that were used a moment ago. */
  keys: SigningKeys;
}
