import { isKithError } from '@kith/client';
import { useState } from 'react';
import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useProof } from '../hooks/use-proof.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

const empty = { newEmail: '', password: '' };

/**
 * Asks for a new e-mail address. The account gets the new address only after the user has opened the link in the mail to this
 * address, and has confirmed the change.
 */
export function EmailForm() {
  const kith = useKith();
  const proved = useProof();
  const [sentTo, setSentTo] = useState<string>();
  const form = useForm(empty, async (values) => {
    await proved(() => kith.auth.changeEmail(values));
    form.setValues(empty);
    setSentTo(values.newEmail);
  });
  const isWrong = isKithError(form.error, 'auth/invalid-credentials');
  return (
    <form className="form" onSubmit={form.onSubmit} aria-label="Change of the e-mail address">
      <FormProblem text={isWrong ? undefined : form.problem} />
      {sentTo !== undefined && (
        <p role="status">A mail is on its way to {sentTo}. Open the link in it to confirm the new address.</p>
      )}
      <Field
        label="New e-mail address"
        type="email"
        autoComplete="email"
        required
        {...form.field('newEmail')}
      />
      <Field
        label="Your password"
        type="password"
        autoComplete="current-password"
        required
        {...form.field('password')}
        {...(isWrong && { error: 'This is not your password.' })}
      />
      <Button look="primary" type="submit" disabled={form.isBusy}>
        Change the address
      </Button>
    </form>
  );
}
