import type { Collection } from '@kith/client';
import { useState } from 'react';
import { useFolderActions } from '../hooks/use-folders.ts';
import { hrefOf } from '../lib/routes.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { FolderNameDialog } from './folder-name-dialog.tsx';

/** Buttons for the actions on a folder. */
export function FolderActions({ folder }: { folder: Collection }) {
  const { create, rename, remove } = useFolderActions();
  const [asking, setAsking] = useState<'create' | 'rename' | 'delete'>();
  const stopAsking = () => setAsking(undefined);
  const removeIt = async () => {
    // The page leaves the folder first, because a deleted folder cannot be loaded any more.
    location.hash = hrefOf({ page: 'folders' });
    await remove(folder.id);
  };
  return (
    <div className="folder-actions">
      <Button
        look="quiet"
        icon="plus"
        iconOnly
        aria-label={`New folder in ${folder.name}`}
        onClick={() => setAsking('create')}
      />
      <Button
        look="quiet"
        icon="pencil"
        iconOnly
        aria-label={`Rename ${folder.name}`}
        onClick={() => setAsking('rename')}
      />
      <Button
        look="quiet"
        icon="trash"
        iconOnly
        aria-label={`Delete ${folder.name}`}
        onClick={() => setAsking('delete')}
      />
      {asking === 'create' && (
        <FolderNameDialog
          title={`New folder in ${folder.name}`}
          action="Create"
          onName={(name) => create(folder.id, name)}
          onClose={stopAsking}
        />
      )}
      {asking === 'rename' && (
        <FolderNameDialog
          title="Rename the folder"
          action="Rename"
          name={folder.name}
          onName={(name) => rename(folder.id, name)}
          onClose={stopAsking}
        />
      )}
      {asking === 'delete' && (
        <ConfirmDialog
          title={`Delete ${folder.name}?`}
          text="The folders in it are deleted, too. The people are not."
          action="Delete"
          onConfirm={removeIt}
          onClose={stopAsking}
        />
      )}
    </div>
  );
}
