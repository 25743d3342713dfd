import { tableOf } from './table.ts';

/** How many documents of a service's collection were copied. */
export interface Count {
  service: string;
  collection: string;
  documents: number;
}

/** The counts of copied documents as a table, one row for each collection. */
export function tableOfCounts(counts: readonly Count[]): string {
  return tableOf(counts, {
    service: ({ service }) => service,
    collection: ({ collection }) => collection,
    documents: ({ documents }) => String(documents),
  });
}
