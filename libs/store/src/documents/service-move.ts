import type { Document } from 'mongodb';
import type { StoreConfig } from './store-config.ts';

/** A row as SQLite gives it. */
// biome-ignore lint/suspicious/noExplicitAny: the mappers know the columns of their tables
export type MovedRow = Record<string, any>;

/** How the rows of a service's table on SQLite become documents on MongoDB, with the same content. */
export interface MovedTable {
  table: string;
  /** The columns of its primary key, in order. */
  key: readonly string[];
  collection: string;
  document(row: MovedRow): Document & { _id: string | number };
}

/** What is needed to move a service's data from the embedded form to the distributed one. */
export interface ServiceMove {
  service: string;
  tables: readonly MovedTable[];
  /** Opens the store once, so that its schema and indexes are created. Throws `StartError`. */
  prepare(config: StoreConfig): Promise<void>;
}

const keepMs = 7 * 24 * 3600 * 1000;

/** How the outbox is moved. A published event expires at the same time as it would have expired on SQLite. */
export const movedEvents: MovedTable = {
  table: 'events',
  key: ['key'],
  collection: 'events',
  document: ({ key, event, at, published }) => ({
    _id: key,
    event,
    at: new Date(at),
    ...(published ? { expireAt: new Date(at + keepMs) } : { unpublished: true }),
  }),
};

/**
 * A store's facts about itself. The fact `log` describes the marks. The marks are not moved, so this fact has no use after the
 * move.
 */
export const movedFacts: MovedTable = {
  table: 'facts',
  key: ['name'],
  collection: 'facts',
  document: ({ name, value }) => ({ _id: name, value }),
};
