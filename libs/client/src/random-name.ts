/** A unique name that is made of the characters `[0-9a-z-]`. */
export function randomName(): string {
  // `randomUUID` cannot be used: browsers have it only on pages of secure origins.
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-');
}
