import type { z } from 'zod';

/**
 * The role of a collection's documents in a change.
 *
 * - `target`: decides the change by compare-and-set, and carries its events.
 * - `row`: is written by the changes of one target, and belongs to that target for ever.
 * - `copy`: a copy of data that another service owns. Only the newest version is kept. Copies are written with `keep`, never by
 *   changes.
 */
export type Kind = 'target' | 'row' | 'copy';

/** The schema of an object: `shape` names its fields. */
export type DocumentSchema<D> = z.ZodType<D> & { readonly shape: object };

/** Returns a text by which the document can be found, or `null` to leave the document out of the index. */
export type KeyOf<D> = (doc: D, id: string) => string | null;

export interface Index<D> {
  key: KeyOf<D>;
  /** If set, no two documents have the same key. Only for targets, because only the write of a target can refuse a change. */
  unique?: true;
}

/**
 * A kind of document, declared once and stored by either engine. Ids and keys are printable ASCII, so that both engines sort
 * them by bytes. If a key is made of several fields, each field has a fixed width. Times are Unix milliseconds. If a document's
 * id already contains a value, the document does not repeat it: the service reads the value from the id.
 */
export interface Collection<D> {
  /** Letters, digits and `_`; the first character is a lower-case letter. */
  name: string;
  kind: Kind;
  /**
   * The schema that every document is checked against when it is written. New documents have only the fields of the schema. A
   * change of a stored document keeps the fields that the schema does not know (`Change.erases`).
   */
  schema: DocumentSchema<D>;
  /** The version of the documents' shape, from 1. When older documents are read, `upgrade` brings them to this version. */
  version: number;
  upgrade?(old: unknown, from: number): unknown;
  /**
   * The indexes by which ranges of documents can be read. Ranges of ids can be read without an index. If an index makes its
   * keys in a new way, a migration is needed.
   */
  indexes?: Readonly<Record<string, Index<D>>>;
  /** Texts that `search` looks into; each is folded with `fold`. */
  search?: Readonly<Record<string, (doc: D) => string>>;
  /** When a document expires, Unix ms; `null` means never. */
  expires?(doc: D): number | null;
  /** If set, a target records when it was last changed, by the database's clock. `changedWithin` reads this time. */
  dated?: true;
  /**
   * If set, changes of these targets never carry events or a row of the audit log. So on MongoDB, the relay need not look into
   * the collection.
   */
  silent?: true;
}

/** A collection of documents of any type. */
// biome-ignore lint/suspicious/noExplicitAny: `Collection<unknown>` does not accept other collections.
export type AnyCollection = Collection<any>;

/** Sums that are stored under ids. A sum is 0 before anything is added. Changes add to sums without reading them first. */
export interface Counters<Field extends string = string> {
  name: string;
  fields: readonly Field[];
}

/** The names of the store's own tables and collections. */
const reserved = ['events', 'marks', 'facts', 'layout', 'schema', 'installation', 'moves', 'consumers'];

/** Declares a collection, and checks it when the process starts. Throws `TypeError`. */
export function collection<D>(declared: Collection<D>): Collection<D> {
  const names = [
    declared.name,
    ...Object.keys(declared.indexes ?? {}),
    ...Object.keys(declared.search ?? {}),
  ];
  const wrong = names.find((name) => !/^[a-z][a-zA-Z0-9_]*$/.test(name));
  if (wrong !== undefined)
    throw new TypeError(`A collection cannot have ${JSON.stringify(wrong)} as a name.`);
  if (reserved.includes(declared.name))
    throw new TypeError(`The name ${declared.name} is reserved for the store.`);
  const unique = Object.entries(declared.indexes ?? {}).find(([, index]) => index.unique)?.[0];
  if (unique !== undefined && declared.kind !== 'target') {
    throw new TypeError(
      `The index ${unique} of ${declared.name} cannot be unique, because the collection's kind is not target.`,
    );
  }
  if (!Number.isInteger(declared.version) || declared.version < 1) {
    throw new TypeError(`The version of ${declared.name} is not a whole number from 1.`);
  }
  if (declared.version > 1 && !declared.upgrade) {
    throw new TypeError(
      `${declared.name} is at version ${declared.version}, so it needs a function upgrade.`,
    );
  }
  return declared;
}

/** Declares counters. Throws `TypeError`. */
export function counters<Field extends string>(declared: Counters<Field>): Counters<Field> {
  const wrong = [declared.name, ...declared.fields].find((name) => !/^[a-z][a-zA-Z0-9_]*$/.test(name));
  if (wrong !== undefined) throw new TypeError(`Counters cannot have ${JSON.stringify(wrong)} as a name.`);
  if (reserved.includes(declared.name))
    throw new TypeError(`The name ${declared.name} is reserved for the store.`);
  if ((declared.fields as readonly string[]).includes('pending'))
    throw new TypeError('The name pending is reserved for the store.');
  return declared;
}

/** Describes how a declared collection or counters are stored. If the stored layout differs, a migration is needed. */
export function layoutOf(declared: AnyCollection | Counters): string {
  if ('fields' in declared) return JSON.stringify({ kind: 'counters', fields: declared.fields });
  const { kind, indexes = {}, search = {}, expires, dated } = declared;
  return JSON.stringify({
    kind,
    indexes: Object.entries(indexes).map(([index, { unique = false }]) => [index, unique]),
    search: Object.keys(search),
    expires: expires !== undefined,
    dated,
  });
}

/** A stored document, upgraded if its shape is older. Throws if its shape is newer. */
export function asDeclared<D>(of: Collection<D>, stored: unknown, shape: number): D {
  if (shape === of.version) return stored as D;
  if (shape > of.version)
    throw new Error(`${of.name} has a document that a newer version has written (shape ${shape}).`);
  return of.schema.parse(of.upgrade?.(stored, shape));
}

/** Everything that a service stores. */
export interface Declared {
  collections: readonly AnyCollection[];
  counters?: readonly Counters[];
}
