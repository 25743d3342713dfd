import { isKithError } from '@kith/client';
import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useProof } from '../hooks/use-proof.ts';
import { useUser } from '../hooks/use-session.ts';
import { useToasts } from '../hooks/use-toasts.ts';
import { announce } from '../lib/changes.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

const empty = { password: '', newPassword: '' };

/** Changes the signed-in user's password. This ends all other sessions. */
export function PasswordForm() {
  const kith = useKith();
  const proved = useProof();
  const { email } = useUser();
  const { show } = useToasts();
  const form = useForm(empty, async (passwords) => {
    await proved(() => kith.auth.changePassword(passwords));
    form.setValues(empty);
    announce('sessions');
    show({ text: 'Your password is changed. You are signed out everywhere else.' });
  });
  const isWrong = isKithError(form.error, 'auth/invalid-credentials');
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <FormProblem text={isWrong ? undefined : form.problem} />
      {/* From this hidden input, password managers learn to which account the password belongs. */}
      <input type="hidden" autoComplete="username" value={email ?? ''} />
      <Field
        label="Current password"
        type="password"
        autoComplete="current-password"
        required
        {...form.field('password')}
        {...(isWrong && { error: 'This is not your password.' })}
      />
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="At least 8 characters."
        required
        {...form.field('newPassword')}
      />
      <Button look="primary" type="submit" disabled={form.isBusy}>
        Change password
      </Button>
    </form>
  );
}
