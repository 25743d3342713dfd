import { isKithError } from '@kith/client';
import { useActionState, useState } from 'react';
import { useKith } from '../hooks/use-kith.ts';
import { sentenceOf } from '../lib/sentences.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { SecondStepForm } from './second-step-form.tsx';

/** Opens a session with e-mail address and password. If the user has a second factor, asks for it, too. */
export function SignInForm() {
  const kith = useKith();
  /** The address and the password that the user has entered. Set only if they are right and a second factor is still needed. */
  const [half, setHalf] = useState<{ email: string; password: string }>();
  const [failed, signIn, isBusy] = useActionState(async (_: unknown, form: FormData) => {
    const [email, password] = [String(form.get('email')), String(form.get('password'))];
    try {
      await kith.auth.signIn({ email, password });
      return undefined;
    } catch (error) {
      if (isKithError(error, 'auth/second-factor-required')) setHalf({ email, password });
      else return { email, error: sentenceOf(error) };
      return undefined;
    }
  }, undefined);
  if (half) return <SecondStepForm {...half} onBack={() => setHalf(undefined)} />;
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
