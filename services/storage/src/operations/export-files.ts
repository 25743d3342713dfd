import { exportFiles } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toFile } from '../file.ts';
import { isPosition, positionOf } from '../store/place.ts';

/** Returns a page of a user's files for an export, newest first, with the addresses of their bytes. */
export const exportFilesHandler = internalHandler(
  exportFiles,
  async (body, { store, addresses }: AppContext) => {
    const { projectId, userId, after, limit } = body;
    const account = await store.account({ projectId, userId });
    const from = after !== null && isPosition(after) ? { after } : {};
    // Reads one row more than the page shows, to know whether another page follows.
    const found = await store.list(account, { ...from, limit: limit + 1 });
    return exportPage(found, { limit, show: (file) => toFile(file, addresses), position: positionOf });
  },
);
