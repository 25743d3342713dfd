import type { Factor } from '@kith/contracts';
import type { FactorBook, StoredFactor } from '../store/index.ts';

/** A factor as the contract has it: field by field, so that no secret can leave. */
export function factorOf({ id, type, name, createdAt, lastUsedAt }: StoredFactor): Factor {
  return {
    id,
    type,
    name,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}

/** What a user has, for the user. */
export function factorListOf({ factors, recoveryHashes }: FactorBook) {
  return { factors: factors.map(factorOf), recoveryCodesLeft: recoveryHashes.length };
}
