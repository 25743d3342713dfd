import { getPasskey, hasPasskeys, isKithError } from '@kith/client';
import { useAction } from '../hooks/use-action.ts';
import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

/** Asks for the password or a passkey before an action that only the user may do. */
export function ProofDialog({ onProved, onClose }: { onProved(): void; onClose(): void }) {
  return (
    <Dialog title="Is it you?" onClose={onClose}>
      {(close) => (
        <ProofForm
          onProved={() => {
            onProved();
            close();
          }}
          onCancel={close}
        />
      )}
    </Dialog>
  );
}

function ProofForm({ onProved, onCancel }: { onProved(): void; onCancel(): void }) {
  const kith = useKith();
  const form = useForm({ proof: '' }, async ({ proof: password }) => {
    await kith.auth.stepUp({ password });
    onProved();
  });
  const passkey = useAction(async () => {
    const options = await kith.auth.challengePasskey({ rpId: location.hostname });
    await kith.auth.stepUp({ passkey: await getPasskey(options) });
    onProved();
  });
  const isWrong = isKithError(form.error, 'auth/invalid-credentials');
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <FormProblem text={isWrong ? undefined : form.problem} />
      <Field
        label="Your password"
        type="password"
        autoComplete="current-password"
        required
        {...form.field('proof')}
        {...(isWrong && { error: 'This is not your password.' })}
      />
      <div className="dialog-actions">
        <Button onClick={onCancel}>Cancel</Button>
        {hasPasskeys() && (
          <Button disabled={passkey.isBusy} onClick={() => void passkey.run()}>
            Use a passkey
          </Button>
        )}
        <Button look="primary" type="submit" disabled={form.isBusy}>
          Continue
        </Button>
      </div>
    </form>
  );
}
