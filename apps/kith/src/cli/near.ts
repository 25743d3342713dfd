/**
 * The known word that was probably meant. It differs from the typed word only in upper and lower case, hyphens and underscores,
 * or in at most a third of the typed letters.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const plain = bare(word);
  const most = Math.max(1, Math.floor(plain.length / 3));
  const near = known
    .filter((one) => Math.abs(bare(one).length - plain.length) <= most)
    .map((one) => ({ one, distance: distanceOf(plain, bare(one)) }))
    .filter(({ distance }) => distance <= most);
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.one;
}

function bare(text: string): string {
  return text.toLowerCase().replaceAll(/[_-]/g, '');
}

/** How many letters are missing, added, replaced or swapped with their neighbour (Damerau and Levenshtein). */
function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[other.length]!;
}
