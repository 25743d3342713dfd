import { useState } from 'react';
import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

const empty = { email: '' };

/** Requests a mail with a link to set a new password. The form does not reveal whether the account exists. */
export function ForgotPasswordForm() {
  const kith = useKith();
  const [sentTo, setSentTo] = useState<string>();
  const { field, onSubmit, isBusy, problem } = useForm(empty, async ({ email }) => {
    await kith.auth.requestPasswordReset({ email });
    setSentTo(email);
  });
  if (sentTo !== undefined) {
    return (
      <p role="status">
        If there is an account with {sentTo}, a mail is on its way. Open the link in it within an hour.
      </p>
    );
  }
  return (
    <form className="form" onSubmit={onSubmit}>
      <FormProblem text={problem} />
      <Field label="E-mail address" type="email" autoComplete="username" required {...field('email')} />
      <Button look="primary" type="submit" disabled={isBusy}>
        Send me a link
      </Button>
    </form>
  );
}
