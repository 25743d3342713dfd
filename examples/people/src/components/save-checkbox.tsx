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
  // An answer that comes meanwhile may be older than the choice, for example if it follows the choice of another folder.
  if (isBusy && chosen && chosen.instead !== savedIn) setChosen({ ...chosen, instead: savedIn });
  // Once the choice was stored or refused, the platform's next answer counts again.
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
