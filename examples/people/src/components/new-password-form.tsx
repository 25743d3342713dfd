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
    // All sessions of this account have ended. So the user who is signed in on this page is signed out, even if it is another
    // user. The password is set even if the sign-out fails.
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
