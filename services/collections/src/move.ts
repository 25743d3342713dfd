import { movedDocuments } from '@kith/store/open';
import { declared } from './store/collections.ts';

/** Collections' data on its way to the distributed form. */
export const collectionsMove = movedDocuments('collections', declared);
