import { eraseProjectFiles } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Erases what is left of a deleted project after its users have been erased. Returns whether everything is gone. */
export const eraseProjectHandler = internalHandler(
  eraseProjectFiles,
  async ({ projectId }, { store, blobs }: AppContext) => {
    const isDone = await store.eraseProject(projectId);
    if (isDone) await blobs.removeAll(`${projectId}/`);
    return { isDone };
  },
);
