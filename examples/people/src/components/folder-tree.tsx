import type { Collection } from '@kith/client';
import type { ReactNode } from 'react';
import { useSubFolders } from '../hooks/use-folders.ts';
import { Button } from './button.tsx';
import { FolderNode } from './folder-node.tsx';
import { Problem } from './problem.tsx';

/**
 * The folders in a folder. An open folder also shows its own folders. The content of a folder is loaded when the folder is
 * opened.
 */
export function FolderTree(props: {
  rootId: string;
  /** The depth below the top of the tree. */
  level?: number;
  /** Renders a folder's row. */
  children(folder: Collection): ReactNode;
}) {
  const { level = 0 } = props;
  const { items, isLoading, error, loadMore } = useSubFolders(props.rootId);
  if (items.length === 0 && !isLoading && error === undefined) {
    return (
      <p className="muted folder-none" style={{ '--level': level }}>
        {level === 0 ? 'No folders yet.' : 'Nothing in here.'}
      </p>
    );
  }
  return (
    <>
      <ul className="folder-tree" style={{ '--level': level }}>
        {items.map((folder) => (
          <FolderNode key={folder.id} folder={folder} level={level} row={props.children} />
        ))}
        {loadMore && (
          <li>
            <Button look="quiet" onClick={loadMore}>
              Show more
            </Button>
          </li>
        )}
      </ul>
      {error !== undefined && <Problem error={error} topic="folders" />}
    </>
  );
}
