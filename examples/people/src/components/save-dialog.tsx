import { useFoldersOf, useRootFolder } from '../hooks/use-folders.ts';
import { nameOf, type Person } from '../lib/people.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { FolderTree } from './folder-tree.tsx';
import { NewFolder } from './new-folder.tsx';
import { Problem } from './problem.tsx';
import { SaveCheckbox } from './save-checkbox.tsx';

/** Shows the folders. The user can save a person in some folders, and remove the person from others. */
export function SaveDialog({ person, onClose }: { person: Person; onClose(): void }) {
  const { data: root, error: rootError } = useRootFolder();
  const { data: savedIn, error = rootError } = useFoldersOf(person.id);
  return (
    <Dialog title={`Save ${nameOf(person)}`} onClose={onClose}>
      {(close) => (
        <>
          <div className="save-tree">
            {root && savedIn ? (
              <FolderTree rootId={root.id}>
                {(folder) => <SaveCheckbox folder={folder} entityId={person.id} savedIn={savedIn} />}
              </FolderTree>
            ) : (
              error !== undefined && <Problem error={error} topic="folders" />
            )}
          </div>
          {root && <NewFolder parentId={root.id} />}
          <div className="dialog-actions">
            <Button look="primary" onClick={close}>
              Done
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
