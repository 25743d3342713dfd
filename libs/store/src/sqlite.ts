// Files of SQLite, for the log of events that the embedded form keeps in one, and for moving them.
export { isMoved, markMoved } from './drivers/moved.ts';
export { openSqlite, transaction } from './drivers/sqlite.ts';
