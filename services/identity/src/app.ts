import type { Secrets } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { Attempts } from './attempts.ts';
import type { ErasedExternals } from './erased-externals.ts';
import type { ErasureList } from './erasure-list.ts';
import type { Postman } from './mails/postman.ts';
import type { Notices } from './notices.ts';
import type { Passwords } from './passwords.ts';
import type { IdentityStore } from './store/index.ts';
import type { AccessTokens } from './tokens/access-tokens.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';

/** Everything that the handlers work with. */
export interface AppContext {
  store: IdentityStore;
  /** How many times the database was restored from a backup. */
  epoch: number;
  /** When the database was last restored, in Unix ms; 0 if it never was. */
  restoredAt: number;
  /** Sends requests to other services, and erases events that were published. */
  bus: Bus;
  tokens: AccessTokens;
  keys: SigningKeys;
  /** Seals and hashes stored values. */
  secrets: Secrets;
  /** `aud` of access tokens, and of the tokens that projects' own backends sign. */
  tokenAudience: string;
  notices: Notices;
  /** The list of erasures, which is kept outside of the database. */
  erasures: ErasureList;
  /** The external users who were erased. Their tokens from before the erasure are refused. */
  erasedExternals: ErasedExternals;
  passwords: Passwords;
  /** Limits failed attempts at an account. */
  attempts: Attempts;
  /** The present time, for all checks of second factors. */
  now(): Date;
  /** Sends the stored mails. `kick` is called after each commit that stores a mail. */
  postman: Pick<Postman, 'isThere' | 'kick'>;
  /** Publishes the stored events. `kick` is called after each commit that stores an event. */
  relay: Relay;
}
