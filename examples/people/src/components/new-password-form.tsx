import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

const empty = { newPassword: '' };

/** Sets a new password, with the token of a mail. */
export function NewPasswordForm({ token, onDone }: { token: string; onDone: () => void }) {
  const kith = useKith();
  const { field, onSubmit, isBusy, problem } = useForm(empty, async ({ newPassword }) => {
    await kith.auth.resetPassword({ token, newPassword });
    // The reset has ended all sessions of the account. The page does not know whether the account is that of the signed-in
    // user, so it signs this user out in any case. A failure of the sign-out is ignored, because the password is already set.
    await kith.auth.signOut().catch(() => undefined);
    onDone();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <FormProblem text={problem} />
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="At least 8 characters."
        required
        {...field('newPassword')}
      />
      <Button look="primary" type="submit" disabled={isBusy}>
        Set the password
      </Button>
    </form>
  );
}
