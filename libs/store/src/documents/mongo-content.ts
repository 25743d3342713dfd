import type { Collection } from './collection.ts';

/** The stored form of a document, without its id. */
export function contentOf<D>(of: Collection<D>, id: string, doc: D) {
  const keys = keysOf(of, id, doc);
  const texts = Object.entries(of.search ?? {}).map(([field, text]) => [field, text(doc)]);
  const expires = of.expires?.(doc) ?? null;
  return {
    shape: of.version,
    d: JSON.stringify(doc),
    ...(Object.keys(keys).length > 0 && { k: keys }),
    ...(texts.length > 0 && { s: Object.fromEntries(texts) as Record<string, string> }),
    ...(expires !== null && { expiresAt: new Date(expires) }),
  };
}

export function keysOf<D>({ indexes = {} }: Collection<D>, id: string, doc: D): Record<string, string> {
  const keys = Object.entries(indexes).map(([index, { key }]) => [index, key(doc, id)] as const);
  return Object.fromEntries(keys.filter((entry): entry is [string, string] => entry[1] !== null));
}
