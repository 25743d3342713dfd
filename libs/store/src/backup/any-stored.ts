/** A stored document of any collection. */
// biome-ignore lint/suspicious/noExplicitAny: for the reason given at `AnyCollection`.
export type AnyStored = { id: string; doc: any };
