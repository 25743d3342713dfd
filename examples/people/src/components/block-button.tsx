import { useState } from 'react';
import { useRelationActions } from '../hooks/use-relation.ts';
import { nameOf, type Person } from '../lib/people.ts';
import { hrefOf } from '../lib/routes.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';

/** A button that asks for confirmation, and then blocks a person. */
export function BlockButton({ person }: { person: Person }) {
  const { block } = useRelationActions(person);
  const [isAsking, setIsAsking] = useState(false);
  const name = nameOf(person);
  const blockThem = async () => {
    location.hash = hrefOf({ page: 'blocked' });
    await block();
  };
  return (
    <>
      <Button look="quiet" onClick={() => setIsAsking(true)} aria-label={`Block ${name}`}>
        Block
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`Block ${name}?`}
          text="Your connection or request ends, and you no longer find each other. You can unblock this person later."
          action="Block"
          onConfirm={blockThem}
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  );
}
