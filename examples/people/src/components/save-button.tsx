import { useState } from 'react';
import { nameOf, type Person } from '../lib/people.ts';
import { Button } from './button.tsx';
import { SaveDialog } from './save-dialog.tsx';

/** A button that opens a dialog to save a person to folders. */
export function SaveButton({ person }: { person: Person }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        look="quiet"
        icon="bookmark"
        iconOnly
        aria-label={`Save ${nameOf(person)} to a folder`}
        onClick={() => setIsOpen(true)}
      />
      {isOpen && <SaveDialog person={person} onClose={() => setIsOpen(false)} />}
    </>
  );
}
