/**
 * Folds a text for searching. The result is the same for upper and lower case in every script, and for composed and decomposed
 * characters. The result has no diacritics of the Latin, Greek and Cyrillic scripts. Kith folds both stored texts and search
 * texts itself, because databases fold ASCII only. Equal texts always give equal results. Folding a result again changes
 * nothing.
 */
export function fold(text: string): string {
  const upper = bare(text).toUpperCase();
  // Converts to upper case and back, because some letters become equal only this way: ß and SS, ı and I. The letter ς is the
  // form of σ at the end of a word.
  return bare(upper.toLowerCase()).replaceAll('ς', 'σ').trim();
}

/** Decomposes a text (NFKD), and removes the combining diacritical marks. */
function bare(text: string): string {
  return text.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '');
}
