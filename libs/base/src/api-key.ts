import { hash, randomBytes } from 'node:crypto';

const prefixes = { operator: 'kith_op_', server: 'kith_sk_' } as const;
export type ApiKeyKind = keyof typeof prefixes;

/**
 * Makes a key of 256 random bits. Its prefix shows the kind of the key, so that people and scanners for leaked secrets
 * recognise it.
 */
export function makeApiKey(kind: ApiKeyKind): string {
  return prefixes[kind] + randomBytes(32).toString('base64url');
}

/** The kind of key that a token's prefix shows; undefined for any other token. */
export function apiKeyKindOf(token: string): ApiKeyKind | undefined {
  return (Object.keys(prefixes) as ApiKeyKind[]).find((kind) => token.startsWith(prefixes[kind]));
}

/** The hash that Kith stores instead of a key. A plain hash is enough, because nobody can guess 256 random bits. */
export function hashApiKey(token: string): string {
  return hash('sha256', token, 'base64url');
}
