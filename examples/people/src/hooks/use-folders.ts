import type { Collection, Methods, SavedEntity } from '@kith/client';
import { announce } from '../lib/changes.ts';
import { useAction } from './use-action.ts';
import { useKith } from './use-kith.ts';
import { useList, type Walk } from './use-list.ts';
import { type Query, useQuery } from './use-query.ts';

/** The folder that contains all other folders. */
export function useRootFolder(): Query<Collection> {
  const kith = useKith();
  return useQuery('root', 'folders', (signal) => kith.collections.getRoot({ signal }));
}

/** One folder, found among the folders of its parent folder; `null` if it no longer exists. */
export function useFolder(parentId: string, id: string): Query<Collection | null> {
  const kith = useKith();
  return useQuery(id, 'folders', async (signal) => {
    const folders = kith.collections.listSubCollections({ collectionId: parentId }, { signal });
    for await (const folder of folders) if (folder.id === id) return folder;
    return null;
  });
}

/** The folders in a folder. */
export function useSubFolders(collectionId: string): Walk<Collection> {
  const kith = useKith();
  return useList(collectionId, 'folders', (signal) =>
    kith.collections.listSubCollections({ collectionId, limit: 100 }, { signal }),
  );
}

/** The people who are saved in a folder, newest first. */
export function useSavedPeople(collectionId: string): Walk<SavedEntity> {
  const kith = useKith();
  return useList(collectionId, 'folders', (signal) =>
    kith.collections.listEntities({ collectionId, limit: 20 }, { signal }),
  );
}

/** The folders in which an entity is saved. */
export type SavedIn = Methods['collections.isEntitySaved']['output'];

/** Asks in which folders a person is saved. */
export function useFoldersOf(entityId: string): Query<SavedIn> {
  const kith = useKith();
  return useQuery(entityId, 'folders', (signal) => kith.collections.isEntitySaved({ entityId }, { signal }));
}

/** Actions on folders. Each action announces the change to all components that show folders. */
export function useFolderActions() {
  const { collections } = useKith();
  const { run, isBusy } = useAction(async (act: () => Promise<unknown>) => {
    try {
      await act();
    } finally {
      announce('folders');
    }
  });
  return {
    isBusy,
    create: (collectionId: string, collectionName: string) =>
      run(() => collections.createSubCollection({ collectionId, collectionName })),
    rename: (collectionId: string, name: string) => run(() => collections.rename({ collectionId, name })),
    remove: (collectionId: string) => run(() => collections.delete({ collectionId })),
    save: (collectionId: string, entityId: string) =>
      run(() => collections.addEntity({ collectionId, entityId, metadata: { kind: 'person' } })),
    unsave: (collectionId: string, entityId: string) =>
      run(() => collections.removeEntity({ collectionId, entityId })),
  };
}
