import { movedDocuments } from '@kith/store/open';
import { declared } from './store/collections.ts';

/** Identity's data on its way to the distributed form. */
export const identityMove = movedDocuments('identity', declared);
