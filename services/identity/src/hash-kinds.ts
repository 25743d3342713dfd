import { type ImportReason, passwordHashCost } from '@kith/contracts';

/** The most kinds of imported hashes in a project: a refused sign-in computes one hash of each kind. */
const mostKinds = 4;
/**
 * The most that hashes may cost in total, one of each kind: as much as the most expensive accepted hash, about a second of one
 * core.
 */
const mostCost = 1;

/** Why a project that has the kinds `known` of imported hashes cannot have `kind`, too; null if it can. */
export function kindRefusal(known: readonly string[], kind: string): ImportReason | null {
  if (known.includes(kind)) return null;
  if (known.length >= mostKinds) return 'too-many-hash-kinds';
  const cost = [...known, kind].reduce((sum, one) => sum + passwordHashCost(one), 0);
  return cost > mostCost ? 'hashes-too-costly' : null;
}
