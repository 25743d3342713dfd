import type { Factor } from '@kith/contracts';
import type { FactorBook, StoredFactor } from '../store/index.ts';

/** A factor in the form of the contract, copied field by field, so that no secret can get out. */
export function factorOf({ id, type, name, createdAt, lastUsedAt }: StoredFactor): Factor {
  return {
    id,
    type,
    name,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}

/** A user's factors and the number of recovery codes that are left, in the form in which the user gets them. */
export function factorListOf({ factors, recoveryHashes }: FactorBook) {
  return { factors: factors.map(factorOf), recoveryCodesLeft: recoveryHashes.length };
}
