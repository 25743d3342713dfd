export type { Declared } from './documents/collection.ts';
export { examineDocuments } from './documents/examine.ts';
export type { Examined, ExaminedServer } from './documents/examined.ts';
export { counterRow, documentRow, movedDocuments } from './documents/moved-documents.ts';
export { noteRestored, readEpoch } from './documents/note-restored.ts';
export { openDocuments } from './documents/open-documents.ts';
export { readDocuments } from './documents/read-documents.ts';
export { resealAll } from './documents/reseal.ts';
export { type MovedRow, type MovedTable, movedEvents, type ServiceMove } from './documents/service-move.ts';
