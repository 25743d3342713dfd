import { StartError } from '@kith/base';

/** The refusal of a database that no version lays out like that any more which was ever released. */
export function olderLayout(name: string, version: number): StartError {
  return new StartError(
    `The database ${name} was written by an older version of Kith (schema ${version}), whose layout this one does not read. Begin with an empty one, and import what is to stay.`,
  );
}
