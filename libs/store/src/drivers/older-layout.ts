import { StartError } from '@kith/base';

/** The error for a database whose layout is older than the layout of every released version. */
export function olderLayout(name: string, version: number): StartError {
  return new StartError(
    `The database ${name} was written by an older version of Kith (schema ${version}), whose layout this one does not read. Begin with an empty one, and import what is to stay.`,
  );
}
