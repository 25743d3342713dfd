/** A stored document of any collection. */
// biome-ignore lint/suspicious/noExplicitAny: as `AnyCollection`.
export type AnyStored = { id: string; doc: any };
