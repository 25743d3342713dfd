import type { Collection } from '@kith/client';
import { useRef, useState } from 'react';
import { type SavedIn, useFolderActions } from '../hooks/use-folders.ts';

/**
 * A folder's row in a dialog. It shows whether an entity is saved in the folder. After a click, it shows the user's choice even
 * before the choice is stored.
 */
export function SaveCheckbox(props: { folder: Collection; entityId: string; savedIn: SavedIn }) {
  const { folder, entityId, savedIn } = props;
  const { save, unsave, isBusy } = useFolderActions();
  const [chosen, setChosen] = useState<{ isIn: boolean; instead: SavedIn }>();
  const last = useRef(Promise.resolve());
  const stored = savedIn.collections.some(({ id }) => id === folder.id);
  // `savedIn` may arrive while a choice is being stored, and may then be older than this choice. So the checkbox shows the
  // choice, and not `savedIn`, until the choice is stored.
  if (isBusy && chosen && chosen.instead !== savedIn) setChosen({ ...chosen, instead: savedIn });
  // Shows the choice while it is being stored, and after that until a newer `savedIn` has arrived. Then shows `savedIn` again.
  const isIn = chosen && (isBusy || chosen.instead === savedIn) ? chosen.isIn : stored;
  const toggle = () => {
    setChosen({ isIn: !isIn, instead: savedIn });
    const act = isIn ? unsave : save;
    // Changes are sent one after the other, so that the server ends with the last choice.
    last.current = last.current.then(() => act(folder.id, entityId));
  };
  return (
    <label className="save-row">
      <input type="checkbox" checked={isIn} onChange={toggle} />
      <span>{folder.name}</span>
    </label>
  );
}
