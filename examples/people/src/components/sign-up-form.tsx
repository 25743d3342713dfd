import { type FormEvent, useState } from 'react';
import { useKith } from '../hooks/use-kith.ts';
import { useUsernameCheck } from '../hooks/use-username-check.ts';
import { fieldOf, sentenceFor, sentenceOf } from '../lib/sentences.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';

const empty = { name: '', username: '', email: '', password: '' };

/** Makes an account. What the platform refuses is said at the field it is about. */
export function SignUpForm() {
  const kith = useKith();
  const [values, setValues] = useState(empty);
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const isFree = useUsernameCheck(values.username);
  const field = (name: keyof typeof empty) => ({
    name,
    value: values[name],
    error: sentenceFor(error, name),
    onChange: (event: { target: { value: string } }) => {
      setValues({ ...values, [name]: event.target.value });
      if (sentenceFor(error, name)) setError(undefined);
    },
  });
  const signUp = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    try {
      const { username, ...others } = values;
      await kith.auth.signUp({ ...others, ...(username && { username }) });
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  const isOfField = Object.hasOwn(empty, fieldOf(error) ?? '');
  const usernameHint = isFree === undefined ? undefined : isFree ? 'It is free.' : 'It is taken.';
  return (
    <form className="form" onSubmit={signUp}>
      {error !== undefined && !isOfField && (
        <p className="form-problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
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
