import { StartError } from '@kith/base';

/** The error for a database whose layout is older than the layout of every released version. */
export function olderLayout(name: string, version: number): StartError {
  return new StartError(
    `The database ${name} was written by an older version of Kith (schema ${version}), and this version cannot read it. Start with an empty database, and import the data that you want to keep.`,
  );
}
