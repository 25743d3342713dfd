import type { Collection } from '@kith/client';
import { useRef, useState } from 'react';
import { type SavedIn, useFolderActions } from '../hooks/use-folders.ts';

/** A folder's row in a dialog that shows whether something is saved there. It shows a choice even before it is stored. */
export function SaveCheckbox(props: { folder: Collection; entityId: string; savedIn: SavedIn }) {
  const { folder, entityId, savedIn } = props;
  const { save, unsave, isBusy } = useFolderActions();
  const [chosen, setChosen] = useState<{ isIn: boolean; instead: SavedIn }>();
  const last = useRef(Promise.resolve());
  const stored = savedIn.collections.some(({ id }) => id === folder.id);
  // An answer that comes while a choice is being stored may be older than the choice: it may follow a choice made just before.
  if (isBusy && chosen && chosen.instead !== savedIn) setChosen({ ...chosen, instead: savedIn });
  // The choice is shown until it was stored or refused and a new answer has come after that; then the answer is shown again.
  const isIn = chosen && (isBusy || chosen.instead === savedIn) ? chosen.isIn : stored;
  const toggle = () => {
    setChosen({ isIn: !isIn, instead: savedIn });
    const act = isIn ? unsave : save;
    // Changes are sent one after the other, so that the last choice is the one that counts.
    last.current = last.current.then(() => act(folder.id, entityId));
  };
  return (
    <label className="save-row">
      <input type="checkbox" checked={isIn} onChange={toggle} />
      <span>{folder.name}</span>
    </label>
  );
}
