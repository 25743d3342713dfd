import type { AnyChange } from './documents.ts';

/** A change, and its position among the requested changes. */
export interface Asked {
  at: number;
  change: AnyChange;
}

/**
 * Splits changes into turns, which are made one after the other. Within a turn, no change depends on another. A change depends
 * on an earlier change if both have the same target, or if both take or give up the same unique key. A change also depends on
 * the earlier change if one of the two changes writes a key, and the other change requires this key (`below`).
 */
export function inTurns(changes: readonly AnyChange[]): Asked[][] {
  const turns: Asked[][] = [];
  const above = new Set(changes.map(({ in: of, below }) => `${of.name} ${below?.index}`));
  // For each target and key: the last turn that writes it, and the last turn that looks for it.
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

/**
 * The things that a change writes and on which other changes may depend. These are its target, and the target's keys before and
 * after the change.
 */
function writesOf({ in: of, target, set }: AnyChange, isAbove: (index: string) => boolean): string[] {
  const id = typeof target === 'string' ? target : target.id;
  const docs = [...(typeof target === 'string' ? [] : [target.doc]), ...(set === null ? [] : [set])];
  const keys = Object.entries(of.indexes ?? {}).flatMap(([index, { key, unique }]) => {
    if (!unique && !isAbove(index)) return [];
    // `null` means that a document has no key in this index. Two such documents do not depend on each other.
    const own = docs.map((doc) => key(doc, id)).filter((one) => one !== null);
    return own.map((one) => `${of.name} ${index} ${one}`);
  });
  return [`${of.name} ${id}`, ...keys];
}
