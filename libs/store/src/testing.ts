// Internals of the store that test suites of other packages need.
export { openMongo } from './drivers/mongo.ts';
export { SqliteOutbox, sqliteOutboxTables } from './outbox/sqlite-outbox.ts';
