import type { Collection } from '@kith/client';
import { useSavedPeople, useSubFolders } from '../hooks/use-folders.ts';
import { hrefOf } from '../lib/routes.ts';
import { Empty } from './empty.tsx';
import { FolderActions } from './folder-actions.tsx';
import { FolderLink } from './folder-link.tsx';
import { Icon } from './icon.tsx';
import { Problem } from './problem.tsx';
import { SavedPerson } from './saved-person.tsx';
import { WalkView } from './walk-view.tsx';

/** An open folder: its name, the folders in it, and the people saved in it. */
export function FolderContent({ folder }: { folder: Collection }) {
  const saved = useSavedPeople(folder.id);
  const { items: subFolders, error } = useSubFolders(folder.id);
  return (
    <section className="folder-content" aria-label={folder.name}>
      <a className="back" href={hrefOf({ page: 'folders' })}>
        <Icon name="back" />
        All folders
      </a>
      <div className="folder-head">
        <h2>{folder.name}</h2>
        <FolderActions folder={folder} />
      </div>
      {subFolders.length > 0 && (
        <ul className="sub-folders" aria-label={`Folders in ${folder.name}`}>
          {subFolders.map((each) => (
            <li key={each.id}>
              <FolderLink folder={each} />
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && <Problem error={error} topic="folders" />}
      <WalkView
        walk={saved}
        topic="folders"
        label={`Saved in ${folder.name}`}
        empty={
          <Empty icon="bookmark" title="Nobody is saved here yet">
            Save people with the bookmark beside their name.
          </Empty>
        }
      >
        {({ id, addedAt }) => <SavedPerson key={id} userId={id} addedAt={addedAt} folder={folder} />}
      </WalkView>
    </section>
  );
}
