import { Empty } from '../components/empty.tsx';
import { FolderContent } from '../components/folder-content.tsx';
import { FolderLink } from '../components/folder-link.tsx';
import { FolderTree } from '../components/folder-tree.tsx';
import { NewFolder } from '../components/new-folder.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { Problem } from '../components/problem.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { useFolder, useRootFolder } from '../hooks/use-folders.ts';

type FolderAddress = { parentId: string; id: string };

/** The tree of folders, and beside it the open folder. */
export function FoldersPage({ open }: { open?: FolderAddress | undefined }) {
  const { data: root, error } = useRootFolder();
  return (
    <div className={`folders${open ? ' has-open' : ''}`}>
      <PageHeading title="Folders" />
      <div className="folder-side">
        {root ? (
          <>
            <FolderTree rootId={root.id}>
              {(folder) => <FolderLink folder={folder} openId={open?.id} />}
            </FolderTree>
            <NewFolder parentId={root.id} />
          </>
        ) : (
          error !== undefined && <Problem error={error} topic="folders" />
        )}
      </div>
      <div className="folder-main">
        {open ? (
          <OpenFolder key={open.id} {...open} />
        ) : (
          <Empty icon="folder" title="Open a folder">
            Folders keep people together. Only you see them.
          </Empty>
        )}
      </div>
    </div>
  );
}

function OpenFolder({ parentId, id }: FolderAddress) {
  const { data: folder, error } = useFolder(parentId, id);
  if (folder === undefined)
    return error === undefined ? <Skeleton /> : <Problem error={error} topic="folders" />;
  return folder ? (
    <FolderContent folder={folder} />
  ) : (
    <Empty icon="folder" title="This folder is not there any more" />
  );
}
