import type { Collection } from '@kith/client';
import { hrefOf } from '../lib/routes.ts';
import { Icon } from './icon.tsx';

/** A link to a folder, with the number of people in it. */
export function FolderLink({ folder, openId }: { folder: Collection; openId?: string | undefined }) {
  const { id, parentId, name, entityCount } = folder;
  const href = hrefOf({ page: 'folders', open: { parentId: parentId ?? id, id } });
  return (
    <a className="folder-link" href={href} aria-current={id === openId ? 'true' : undefined}>
      <Icon name="folder" />
      <span className="folder-name">{name}</span>
      <span className="folder-count">
        {entityCount}
        <span className="for-readers"> saved</span>
      </span>
    </a>
  );
}
