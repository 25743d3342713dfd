import type { MongoClientOptions } from 'mongodb';

/** How each client of Kith's own databases reads and writes. Writes wait for a majority and for the journal. */
export const surely = {
  writeConcern: { w: 'majority', journal: true },
  // With a lower level, a read could see a change that a failover rolls back. Kith would then settle or publish a change that
  // does not exist.
  readConcern: { level: 'majority' },
  // A secondary may still lack a change that was just made.
  readPreference: 'primary',
} as const satisfies MongoClientOptions;
