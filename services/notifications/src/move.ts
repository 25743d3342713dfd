import { movedDocuments } from '@kith/store/open';
import { declared } from './store/collections.ts';

/** Notifications' data on its way to the distributed form. */
export const notificationsMove = movedDocuments('notifications', declared);
