import { type ImportReason, passwordHashCost } from '@kith/contracts';

/**
 * How many kinds of imported hashes a project may have. There is a limit because a refused sign-in computes one hash of each
 * kind.
 */
const mostKinds = 4;
/**
 * The maximum total cost of a project's hash kinds. The total is the sum of the costs of one hash of each kind. A single hash
 * may also cost at most this much, which is about one second of one core.
 */
const mostCost = 1;

/** Why the hash kind `kind` is refused for a project that has the kinds `known`; null if it is accepted. */
export function kindRefusal(known: readonly string[], kind: string): ImportReason | null {
  if (known.includes(kind)) return null;
  if (known.length >= mostKinds) return 'too-many-hash-kinds';
  const cost = [...known, kind].reduce((sum, one) => sum + passwordHashCost(one), 0);
  return cost > mostCost ? 'hashes-too-costly' : null;
}
