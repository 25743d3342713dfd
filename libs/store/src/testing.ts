// What suites of other packages need of the store's insides.
export { openMongo } from './drivers/mongo.ts';
export { SqliteOutbox, sqliteEventsTable, sqliteMarks } from './outbox/sqlite-outbox.ts';
