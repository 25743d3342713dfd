export type { Declared } from './collection.ts';
export { counterRow, documentRow, movedDocuments } from './moved-documents.ts';
export { noteRestored } from './note-restored.ts';
export { openDocuments } from './open-documents.ts';
export { type MovedRow, type MovedTable, movedEvents, type ServiceMove } from './service-move.ts';
