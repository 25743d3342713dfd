import { movedDocuments } from '@kith/store/open';
import { declared } from './store/collections.ts';

/** Connections' data on its way to the distributed form. */
export const connectionsMove = movedDocuments('connections', declared);
