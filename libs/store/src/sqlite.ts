// Access to SQLite files: for the event log of the embedded form, and for moving data to the distributed form.
export { isMoved, markMoved } from './drivers/moved.ts';
export { openSqlite, syncedTransaction, transaction } from './drivers/sqlite.ts';
