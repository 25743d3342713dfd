import { type ImportReason, passwordHashCost } from '@kith/contracts';

/** The most kinds of imported hashes in a project. There is a limit because a refused sign-in computes one hash of each kind. */
const mostKinds = 4;
/**
 * The most that one hash of each kind may cost in total. This is also the cost of the most expensive accepted hash: about one
 * second of one core.
 */
const mostCost = 1;

/** Why a project cannot have the hash kind `kind` in addition to its kinds `known`; null if it can. */
export function kindRefusal(known: readonly string[], kind: string): ImportReason | null {
  if (known.includes(kind)) return null;
  if (known.length >= mostKinds) return 'too-many-hash-kinds';
  const cost = [...known, kind].reduce((sum, one) => sum + passwordHashCost(one), 0);
  return cost > mostCost ? 'hashes-too-costly' : null;
}
