import type { JWK } from 'jose';

/** A key of access tokens. It signs from `signsFrom` until another one does, and verifies until its tokens are gone. */
export interface SigningKey {
  /** Counts from 1; two replicas that make the same one get one key. */
  ordinal: number;
  kid: string;
  privateJwk: JWK;
  signsFrom: Date;
  createdAt: Date;
}

export interface KeyStore {
  /** Stores a key unless its ordinal is taken. */
  add(key: SigningKey): Promise<void>;
  /** All keys, newest first. */
  list(): Promise<SigningKey[]>;
  /** Takes a key away, if its ordinal still is this one's. */
  remove(key: Pick<SigningKey, 'ordinal' | 'kid'>): Promise<void>;
  /** Puts a key in the place of the one that has its ordinal, if that is still `kid`. */
  replace(kid: string, key: SigningKey): Promise<void>;
  /** Notes for good that a key is revoked. Repeatable. */
  revoke(kid: string, at: Date): Promise<void>;
  /** The ids of all revoked keys. */
  revoked(): Promise<string[]>;
}
