import type { Secrets } from '@kith/base';
import type { Outbox, Replies, Resealed, StoreConfig } from '@kith/store';
import { openDocuments, resealAll } from '@kith/store/open';
import { Accounts } from './accounts.ts';
import { ApiKeys } from './api-keys.ts';
import { Attempts } from './attempts.ts';
import { Audits } from './audits.ts';
import { Blocks } from './blocks.ts';
import { declared } from './collections.ts';
import { Erasure } from './erasure.ts';
import { Factors } from './factors.ts';
import { HashKeys } from './hash-keys.ts';
import { Imports } from './imports.ts';
import { Keys } from './keys.ts';
import { Mailings } from './mailings.ts';
import { MailsSent } from './mails-sent.ts';
import { People } from './people.ts';
import { Projects } from './projects.ts';
import { ResetRequests } from './reset-requests.ts';
import { sealed } from './sealed.ts';
import { Sessions } from './sessions.ts';
import { Users } from './users.ts';

export type { Ending } from './accounts.ts';
export type { ListedApiKey } from './api-keys.ts';
export { type Attempts, addressPlace, clientPlace, factorPlace } from './attempts.ts';
export { type Audits, erased } from './audits.ts';
export type { Block } from './blocks.ts';
export type { DeletedUser, Erasure } from './erasure.ts';
export type {
  Enrolment,
  FactorBook,
  PasskeyFactor,
  StoredFactor,
  TotpFactor,
} from './factor-book.ts';
export { HashKeys, sealedFor } from './hash-keys.ts';
export type { ImportOutcome } from './imports.ts';
export { readKeys } from './keys.ts';
export { revokedPlace, suspendedPlace, userKey } from './keys-of.ts';
export type { NewMailing } from './mailing-row.ts';
export type { Mailing, TokenUse } from './mailings.ts';
export type { DeletingProject } from './projects.ts';
export type {
  ApiKey,
  EndingReason,
  Profile,
  Project,
  ProjectSettings,
  RevocationReason,
  Session,
  SigningKey,
  Suspension,
  User,
} from './records.ts';
export { clientKnownMs, type Failures, failuresKeptMs, renewMs, usualExternalAge } from './records.ts';
export type { ResetRequest } from './reset-requests.ts';
export type { Rotation } from './sessions.ts';

/** The part of the store that holds the signing keys of access tokens. */
export type KeyStore = Pick<Keys, keyof Keys>;

/** Everything that identity stores. */
export interface IdentityStore {
  readonly projects: Projects;
  readonly users: Users;
  readonly people: People;
  readonly erasure: Erasure;
  readonly blocks: Blocks;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly factors: Factors;
  readonly keys: Keys;
  readonly hashKeys: HashKeys;
  readonly apiKeys: ApiKeys;
  readonly imports: Imports;
  readonly attempts: Attempts;
  readonly audits: Audits;
  readonly mailings: Mailings;
  readonly mailsSent: MailsSent;
  readonly resetRequests: ResetRequests;
  /** The events of users and sessions. */
  readonly outbox: Outbox;
  /** Stored answers to requests with an idempotency key. */
  readonly replies: Replies | undefined;
  /** Finds all values that are not sealed under the current secret, and seals them under it. */
  reseal(secrets: Secrets): Promise<Resealed>;
  /** Removes expired data, and completes the changes that processes left unfinished when they died. */
  sweep(): Promise<void>;
  /** Rejects when the database cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store and brings its schema up to date. Throws `StartError`. */
export async function openStore(config: StoreConfig): Promise<IdentityStore> {
  const documents = await openDocuments(config, declared);
  return {
    projects: new Projects(documents),
    users: new Users(documents),
    people: new People(documents),
    erasure: new Erasure(documents),
    blocks: new Blocks(documents),
    accounts: new Accounts(documents),
    sessions: new Sessions(documents),
    factors: new Factors(documents),
    keys: new Keys(documents),
    hashKeys: new HashKeys(documents),
    apiKeys: new ApiKeys(documents),
    imports: new Imports(documents),
    attempts: new Attempts(documents),
    audits: new Audits(documents),
    mailings: new Mailings(documents),
    mailsSent: new MailsSent(documents),
    resetRequests: new ResetRequests(documents),
    outbox: documents.outbox,
    replies: documents.replies,
    reseal: (secrets) => resealAll(documents, sealed, secrets),
    sweep: () => documents.sweep(),
    check: () => documents.check(),
    close: () => documents.close(),
  };
}
