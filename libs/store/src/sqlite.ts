// SQLite files: for the event log, which the embedded form keeps in such a file, and for moving them.
export { isMoved, markMoved } from './drivers/moved.ts';
export { openSqlite, transaction } from './drivers/sqlite.ts';
