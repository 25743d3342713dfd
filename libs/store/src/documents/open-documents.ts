import type { Declared } from './collection.ts';
import type { Documents } from './documents.ts';
import { openSqliteDocuments } from './sqlite-documents.ts';
import type { StoreConfig } from './store-config.ts';

/**
 * Opens a service's database, and creates the declared tables, collections and indexes that it does not have yet. Throws
 * `StartError` if the database cannot be used, or if it stores something in another way than declared.
 */
export async function openDocuments(config: StoreConfig, declared: Declared): Promise<Documents> {
  if (config.kind === 'sqlite') return openSqliteDocuments({ ...config, ...declared });
  // The driver is loaded only when it is needed, because the embedded form works without it (docs/adr/0043).
  const { openMongoDocuments } = await import('./mongo-documents.ts');
  return openMongoDocuments({ ...config, ...declared });
}
