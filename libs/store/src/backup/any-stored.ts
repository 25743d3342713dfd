/** A stored document, whatever it is of. */
// biome-ignore lint/suspicious/noExplicitAny: as `AnyCollection`.
export type AnyStored = { id: string; doc: any };
