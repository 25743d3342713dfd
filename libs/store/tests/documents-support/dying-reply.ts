import { HeldChanges, type StoreConfig } from '@kith/store';
import { dieBeforeWrite } from '@kith/testing/die-before-write';
import { openDocuments } from '../../src/documents/open-documents.ts';
import { answered, declaredWithReplies, makeBoxes } from './shelf-request.ts';

/**
 * The instructions for the child: the store to use, the key to store under, and the number of a write. Just before this write,
 * the child dies.
 */
export interface DyingReply {
  store: StoreConfig;
  key: string;
  number: number;
}

const work: DyingReply = JSON.parse(process.argv[2] ?? '{}');
const documents = await openDocuments(work.store, declaredWithReplies);
dieBeforeWrite(work.number);
const begun = await documents.replies?.begin(work.key, 1);
if (!begun || typeof begun === 'string' || !('token' in begun))
  throw new Error('The request was begun before.');
const held = new HeldChanges(documents.replies);
await held.run(() => makeBoxes(documents, work.key));
if ((await documents.replies?.keep(held.changes, begun, answered('the child'))) === 'made')
  process.stdout.write('acknowledged');
await documents.close();
