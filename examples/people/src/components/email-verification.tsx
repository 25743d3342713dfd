import { useState } from 'react';
import { useAction } from '../hooks/use-action.ts';
import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useUser } from '../hooks/use-session.ts';
import { useToasts } from '../hooks/use-toasts.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

/** Shows whether the user's address is verified, and verifies it by a code or by a link. */
export function EmailVerification() {
  const kith = useKith();
  const { email, isVerified } = useUser();
  const { show } = useToasts();
  const [isCodeSent, setIsCodeSent] = useState(false);
  const send = useAction(async (mode: 'code' | 'link') => {
    await kith.auth.sendVerificationEmail({ mode });
    setIsCodeSent(mode === 'code');
    show({ text: mode === 'code' ? 'A code is on its way to you.' : 'A link is on its way to you.' });
  });
  const form = useForm({ token: '' }, async ({ token }) => {
    await kith.auth.verifyEmail({ token: token.trim() });
    // A failure of the refresh is ignored, because the address is already verified.
    await kith.auth.refresh().catch(() => null);
    setIsCodeSent(false);
    show({ text: 'Your e-mail address is confirmed.' });
  });
  return (
    <>
      <p>
        {email} <span className="muted">{isVerified ? 'is confirmed.' : 'is not confirmed yet.'}</span>
      </p>
      {!isVerified && (
        <p className="picture-actions">
          <Button onClick={() => send.run('code')} disabled={send.isBusy}>
            Send me a code
          </Button>
          <Button look="quiet" onClick={() => send.run('link')} disabled={send.isBusy}>
            Send me a link
          </Button>
        </p>
      )}
      {!isVerified && isCodeSent && (
        <form className="form" onSubmit={form.onSubmit}>
          <FormProblem text={form.problem} />
          <Field
            label="Code"
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={6}
            hint="The 6 digits in the mail. They can be used for 5 minutes."
            required
            {...form.field('token')}
          />
          <Button look="primary" type="submit" disabled={form.isBusy}>
            Confirm
          </Button>
        </form>
      )}
    </>
  );
}
