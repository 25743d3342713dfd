import type { AnyChange } from './documents.ts';

/** A change, and where it stands among those that are asked for. */
export interface Asked {
  at: number;
  change: AnyChange;
}

/**
 * Splits changes into turns that are made one after the other: within a turn none depends on another. A change depends on an
 * earlier one of the same target, of a unique key that either has or gives up, or of a key that it is to be below.
 */
export function inTurns(changes: readonly AnyChange[]): Asked[][] {
  const turns: Asked[][] = [];
  const above = new Set(changes.map(({ in: of, below }) => `${of.name} ${below?.index}`));
  // The last turn in which something is written, or looked for.
  const written = new Map<string, number>();
  const lookedFor = new Map<string, number>();
  const last = (of: ReadonlyMap<string, number>, what: readonly string[]) =>
    Math.max(-1, ...what.map((one) => of.get(one) ?? -1));
  for (const [at, change] of changes.entries()) {
    const { in: of, below } = change;
    const looks = below ? below.keys.map((key) => `${of.name} ${below.index} ${key}`) : [];
    const writes = writesOf(change, (index) => above.has(`${of.name} ${index}`));
    const turn = 1 + Math.max(last(written, [...writes, ...looks]), last(lookedFor, writes));
    turns[turn] ??= [];
    turns[turn].push({ at, change });
    for (const one of writes) written.set(one, turn);
    for (const one of looks) lookedFor.set(one, Math.max(turn, last(lookedFor, [one])));
  }
  return turns;
}

/** What a change writes that others may depend on: its target, and keys before it and after it. */
function writesOf({ in: of, target, set }: AnyChange, isAbove: (index: string) => boolean): string[] {
  const id = typeof target === 'string' ? target : target.id;
  const docs = [...(typeof target === 'string' ? [] : [target.doc]), ...(set === null ? [] : [set])];
  const keys = Object.entries(of.indexes ?? {}).flatMap(([index, { key, unique }]) => {
    if (!unique && !isAbove(index)) return [];
    // Documents without a key have nothing in common.
    const own = docs.map((doc) => key(doc, id)).filter((one) => one !== null);
    return own.map((one) => `${of.name} ${index} ${one}`);
  });
  return [`${of.name} ${id}`, ...keys];
}
