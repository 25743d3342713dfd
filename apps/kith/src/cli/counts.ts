import type { Surroundings } from './command.ts';
import { print } from './table.ts';

/** How many documents of a service's collection were copied. */
export interface Count {
  service: string;
  collection: string;
  documents: number;
}

/** Prints what was copied, collection by collection. */
export function printCounts(around: Surroundings, counts: readonly Count[], how: { json: boolean }): void {
  print(around, counts, {
    ...how,
    columns: {
      service: ({ service }) => service,
      collection: ({ collection }) => collection,
      documents: ({ documents }) => String(documents),
    },
  });
}
