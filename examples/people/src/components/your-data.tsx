import { useState } from 'react';
import { useAction } from '../hooks/use-action.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useProof } from '../hooks/use-proof.ts';
import { useUser } from '../hooks/use-session.ts';
import { saveAs } from '../lib/save-as.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';

const exportMs = 120_000;

/** Buttons to download or erase all stored data about the signed-in user. */
export function YourData() {
  const kith = useKith();
  const proved = useProof();
  const { id: userId } = useUser();
  const [isAsking, setIsAsking] = useState(false);
  const exporting = useAction(async () => {
    const all = await proved(() => kith.users.export({ userId }, { timeoutMs: exportMs }));
    saveAs('my-data.json', JSON.stringify(all, null, 2));
  });
  const erasing = useAction(() => proved(() => kith.users.delete({ userId })));
  return (
    <>
      <div className="data-row">
        <p>Profile, connections, folders, notifications and files, as one document.</p>
        <Button icon="download" disabled={exporting.isBusy} onClick={() => void exporting.run()}>
          Export my data
        </Button>
      </div>
      <div className="data-row">
        <p>Your account and everything that belongs to it are deleted for good.</p>
        <Button look="danger" icon="trash" onClick={() => setIsAsking(true)}>
          Delete my account
        </Button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title="Delete your account?"
          text="Your profile, connections, folders, messages and pictures are erased. This cannot be undone."
          action="Delete for good"
          onConfirm={() => erasing.run()}
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  );
}
