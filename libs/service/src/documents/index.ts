export { counterRow, documentRow, movedDocuments } from './moved-documents.ts';
export { noteRestored } from './note-restored.ts';
export { type Declared, openDocuments } from './open-documents.ts';
export { type MovedRow, type MovedTable, movedEvents, type ServiceMove } from './service-move.ts';
