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
  /** How often the database was restored from a backup. */
  epoch: number;
  /** When the database was last restored, in Unix ms; 0 if it never was. */
  restoredAt: number;
  /** For asking connections about blocks. */
  bus: Bus;
  tokens: AccessTokens;
  keys: SigningKeys;
  /** Seals and hashes what is stored. */
  secrets: Secrets;
  /** `aud` of the tokens that projects' own backends sign, too. */
  tokenAudience: string;
  notices: Notices;
  /** The list of erasures outside of the database. */
  erasures: ErasureList;
  /** External users who were erased: tokens from before that are refused. */
  erasedExternals: ErasedExternals;
  passwords: Passwords;
  /** Limits failed attempts at an account. */
  attempts: Attempts;
  /** The time by which second factors are judged. */
  now(): Date;
  /** Kicked after each commit that stored a mail. */
  postman: Pick<Postman, 'isThere' | 'kick'>;
  /** Kicked after each commit that stored an event. */
  relay: Relay;
}
