import { useState } from 'react';
import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useUsernameCheck } from '../hooks/use-username-check.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

const empty = { name: '', username: '', email: '', password: '' };

/** Makes an account. If the platform refuses a field, the reason is shown at this field. */
export function SignUpForm() {
  const kith = useKith();
  const { field, values, onSubmit, isBusy, problem } = useForm(empty, async ({ username, ...others }) => {
    const { accessToken } = await kith.auth.signUp({ ...others, ...(username && { username }) });
    // If the project requires verified addresses, sign-up opens no session, and the user gets a mail with a link.
    if (accessToken === null) setSentTo(others.email);
  });
  const [sentTo, setSentTo] = useState<string>();
  const isFree = useUsernameCheck(values.username);
  const usernameHint = isFree === undefined ? undefined : isFree ? 'It is free.' : 'It is taken.';
  if (sentTo !== undefined) {
    return (
      <p role="status">Your account has been created. Open the link in the mail to {sentTo}, then sign in.</p>
    );
  }
  return (
    <form className="form" onSubmit={onSubmit}>
      <FormProblem text={problem} />
      <Field label="Name" autoComplete="name" maxLength={100} required {...field('name')} />
      <Field label="Username (optional)" autoComplete="off" hint={usernameHint} {...field('username')} />
      <Field label="E-mail address" type="email" autoComplete="username" required {...field('email')} />
      <Field
        label="Password"
        type="password"
        autoComplete="new-password"
        hint="At least 8 characters."
        required
        {...field('password')}
      />
      <Button look="primary" type="submit" disabled={isBusy}>
        {isBusy ? 'Creating …' : 'Create account'}
      </Button>
    </form>
  );
}
