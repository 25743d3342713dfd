import { useState } from 'react';
import { useKith } from '../hooks/use-kith.ts';
import { sentenceOf } from '../lib/sentences.ts';
import { Button } from './button.tsx';
import { FormProblem } from './form-problem.tsx';

/** Uses the token of a mail only after a click on a button, because programs that scan mails also open links. */
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
      // An undo has ended all sessions of the account. The page does not know whether the account is that of the signed-in
      // user, so it signs this user out in any case. After a confirmation, the session is refreshed, because it contains a copy
      // of the user with the field `isVerified`. A failure of the sign-out or of the refresh is ignored, because the token has
      // already been used successfully.
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
