import { useActionState } from 'react';
import { useKith } from '../hooks/use-kith.ts';
import { sentenceOf } from '../lib/sentences.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';

/** Opens a session with e-mail address and password. */
export function SignInForm() {
  const kith = useKith();
  const [failed, signIn, isBusy] = useActionState(async (_: unknown, form: FormData) => {
    const email = String(form.get('email'));
    try {
      await kith.auth.signIn({ email, password: String(form.get('password')) });
      return undefined;
    } catch (error) {
      return { email, error: sentenceOf(error) };
    }
  }, undefined);
  return (
    <form className="form" action={signIn}>
      {failed && (
        <p className="form-problem" role="alert">
          {failed.error}
        </p>
      )}
      <Field
        key={failed?.email}
        label="E-mail address"
        name="email"
        type="email"
        autoComplete="username"
        defaultValue={failed?.email}
        required
      />
      <Field label="Password" name="password" type="password" autoComplete="current-password" required />
      <Button look="primary" type="submit" disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </Button>
    </form>
  );
}
