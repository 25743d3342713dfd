import { getPasskey, hasPasskeys } from '@kith/client';
import { useAction } from '../hooks/use-action.ts';
import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

/** Asks for the second factor after the right password. */
export function SecondStepForm(props: { email: string; password: string; onBack(): void }) {
  const { email, password, onBack } = props;
  const kith = useKith();
  const form = useForm({ code: '' }, async ({ code }) => {
    await kith.auth.signIn({ email, password, code });
  });
  const passkey = useAction(async () => {
    const options = await kith.auth.challengeSignIn({ email, password, rpId: location.hostname });
    await kith.auth.signIn({ email, password, passkey: await getPasskey(options) });
  });
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <FormProblem text={form.problem} />
      <Field
        label="Code"
        autoComplete="one-time-code"
        hint="The code that your authenticator app shows, or a recovery code."
        autoFocus
        required
        {...form.field('code')}
      />
      <Button look="primary" type="submit" disabled={form.isBusy}>
        Sign in
      </Button>
      {hasPasskeys() && (
        <Button disabled={passkey.isBusy} onClick={() => void passkey.run()}>
          Use a passkey
        </Button>
      )}
      <Button look="quiet" onClick={onBack}>
        Back
      </Button>
    </form>
  );
}
