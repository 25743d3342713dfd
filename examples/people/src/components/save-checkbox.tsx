import type { Collection } from '@kith/client';
import { useRef, useState } from 'react';
import { type SavedIn, useFolderActions } from '../hooks/use-folders.ts';

/** A folder's row in a dialog: whether something is saved there. It shows what was chosen before it is stored. */
export function SaveCheckbox(props: { folder: Collection; entityId: string; savedIn: SavedIn }) {
  const { folder, entityId, savedIn } = props;
  const { save, unsave, isBusy } = useFolderActions();
  const [chosen, setChosen] = useState<{ isIn: boolean; instead: SavedIn }>();
  const last = useRef(Promise.resolve());
  const stored = savedIn.collections.some(({ id }) => id === folder.id);
  // What the platform tells meanwhile may have been asked for before: another folder was chosen in, say.
  if (isBusy && chosen && chosen.instead !== savedIn) setChosen({ ...chosen, instead: savedIn });
  // What comes after it was stored counts again, also where it was refused.
  const isIn = chosen && (isBusy || chosen.instead === savedIn) ? chosen.isIn : stored;
  const toggle = () => {
    setChosen({ isIn: !isIn, instead: savedIn });
    const act = isIn ? unsave : save;
    // One after the other, or the last word would not be the one that counts.
    last.current = last.current.then(() => act(folder.id, entityId));
  };
  return (
    <label className="save-row">
      <input type="checkbox" checked={isIn} onChange={toggle} />
      <span>{folder.name}</span>
    </label>
  );
}
