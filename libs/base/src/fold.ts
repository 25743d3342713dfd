/**
 * Folds a text for searching: without regard to case in any script, to the way a character is composed, and to
 * diacritics of the Latin, Greek and Cyrillic scripts. Both what is stored and what is looked for go through it, because
 * databases fold ASCII only. An equal input always gives an equal key, and folding a key changes nothing.
 */
export function fold(text: string): string {
  const upper = bare(text).toUpperCase();
  // Up and down again, because some letters meet only there: ß and SS, ı and I. The final sigma is a matter of place.
  return bare(upper.toLowerCase()).replaceAll('ς', 'σ').trim();
}

/** Compatibility decomposition without the combining diacritical marks. */
function bare(text: string): string {
  return text.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '');
}
