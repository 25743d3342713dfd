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
  remove(ordinal: number): Promise<void>;
}
