import { useState } from 'react';
import { useKith } from '../hooks/use-kith.ts';
import { sentenceOf } from '../lib/sentences.ts';
import { Button } from './button.tsx';
import { FormProblem } from './form-problem.tsx';

/** Uses the token of a mail only after the reader confirms, because mail scanners also follow links. */
export function ConfirmAddress({
  token,
  isUndo,
  onDone,
}: {
  token: string;
  isUndo: boolean;
  onDone: () => void;
}) {
  const kith = useKith();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const confirm = async () => {
    setIsBusy(true);
    try {
      await kith.auth.verifyEmail({ token });
      // After an undo, all sessions of this account have ended. So the user who is signed in on this page is signed out, even
      // if it is another user. After a confirmation, the session is refreshed, because the session contains a copy of the user,
      // with the field `isVerified`. The address is confirmed even if the sign-out or the refresh fails.
      if (isUndo) await kith.auth.signOut().catch(() => undefined);
      else if (kith.session) await kith.auth.refresh().catch(() => null);
      onDone();
    } catch (error) {
      setProblem(sentenceOf(error));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <div className="form">
      <FormProblem text={problem} />
      <Button look="primary" onClick={confirm} disabled={isBusy}>
        {isUndo ? 'Undo the change' : 'Confirm'}
      </Button>
    </div>
  );
}
