import { type ImportReason, passwordHashCost } from '@kith/contracts';

/** Most kinds of imported hashes in a project: a refused sign-in costs one of each. */
const mostKinds = 4;
/** What one of each may cost together: as much as the dearest hash that is taken, about a second of one core. */
const mostCost = 1;

/** Why a project that has some kinds of imported hashes cannot have another one; null when it can. */
export function kindRefusal(known: readonly string[], kind: string): ImportReason | null {
  if (known.includes(kind)) return null;
  if (known.length >= mostKinds) return 'too-many-hash-kinds';
  const cost = [...known, kind].reduce((sum, one) => sum + passwordHashCost(one), 0);
  return cost > mostCost ? 'hashes-too-costly' : null;
}
