/**
 * Folds a text for searching: ignores case in any script, how a character is composed, and the diacritics of the Latin,
 * Greek and Cyrillic scripts. Both stored texts and search texts are folded with it, because databases fold ASCII only.
 * Equal inputs always give equal keys, and folding a key changes nothing.
 */
export function fold(text: string): string {
  const upper = bare(text).toUpperCase();
  // Converts to upper case and back, because some letters become equal only this way: ß and SS, ı and I. The final
  // sigma depends only on its place in a word.
  return bare(upper.toLowerCase()).replaceAll('ς', 'σ').trim();
}

/** Compatibility decomposition without the combining diacritical marks. */
function bare(text: string): string {
  return text.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '');
}
