/** A name that nothing else has, of `[0-9a-z-]`. */
export function randomName(): string {
  // Not randomUUID: browsers have it on pages of secure origins only.
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-');
}
