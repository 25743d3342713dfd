import type { Collection } from '@kith/client';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { FolderTree } from './folder-tree.tsx';

/** A folder of a tree, which can be opened. */
export function FolderNode(props: { folder: Collection; level: number; row(folder: Collection): ReactNode }) {
  const { folder, level, row } = props;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li>
      <div className="folder-row">
        <Button
          look="quiet"
          icon="chevron"
          iconOnly
          aria-expanded={isOpen}
          aria-label={`Folders in ${folder.name}`}
          onClick={() => setIsOpen(!isOpen)}
        />
        {row(folder)}
      </div>
      {isOpen && (
        <FolderTree rootId={folder.id} level={level + 1}>
          {row}
        </FolderTree>
      )}
    </li>
  );
}
