import { StartError } from '@kith/base';
import { type AnyCollection, type Counters, layoutOf } from './collection.ts';

/** A note in which a database records how its content is stored. `before` is the stored value of the note. */
export interface Note {
  name: string;
  made: string;
  before?: string | undefined;
}

/**
 * Returns the notes about collections and counters that a database has to store. The notes contain the layouts, and the newest
 * shape of the documents. Throws `StartError` if this version cannot work on the database.
 * @param stored The notes of the database, by name.
 */
export function notesToWrite(
  database: string,
  stored: ReadonlyMap<string, string>,
  declared: readonly (AnyCollection | Counters)[],
): Note[] {
  const notes = declared.flatMap((one) => {
    const { name } = one;
    const shapes = 'version' in one ? shapeNote(database, stored, one) : [];
    const layout = { name, made: layoutOf(one), before: stored.get(name) };
    if (layout.before !== undefined && layout.before !== layout.made)
      throw new StartError(
        `${database}: ${name} has a layout that this version cannot read. Start the version of Kith that wrote it.`,
      );
    return [layout, ...shapes];
  });
  return notes.filter(({ made, before }) => made !== before);
}

function shapeNote(
  database: string,
  stored: ReadonlyMap<string, string>,
  { name: collection, version }: AnyCollection,
): Note[] {
  // The name of a collection contains no space.
  const name = `${collection} shape`;
  const before = stored.get(name);
  if (Number(before ?? 0) > version)
    throw new StartError(
      `The database ${database} was written by a newer version of Kith (${name} ${before}). Start the newer version, or restore a backup of this version.`,
    );
  return [{ name, made: String(version), before }];
}
