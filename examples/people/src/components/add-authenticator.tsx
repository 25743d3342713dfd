import type { Methods } from '@kith/client';
import { useForm } from '../hooks/use-form.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useProof } from '../hooks/use-proof.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';
import { QrCode } from './qr-code.tsx';

export type BegunTotp = Extract<Methods['auth.enrolFactor']['output'], { type: 'totp' }>;
type Confirmed = Methods['auth.confirmFactor']['output'];

/** Shows the secret for an authenticator app, and asks for the first code that the app shows. */
export function AddAuthenticator(props: {
  begun: BegunTotp;
  onConfirmed(confirmed: Confirmed): void;
  onClose(): void;
}) {
  const { begun, onConfirmed, onClose } = props;
  return (
    <Dialog title="Add an authenticator app" onClose={onClose}>
      {(close) => (
        <CodeForm
          begun={begun}
          onCancel={close}
          onConfirmed={(confirmed) => {
            close();
            onConfirmed(confirmed);
          }}
        />
      )}
    </Dialog>
  );
}

function CodeForm(props: { begun: BegunTotp; onConfirmed(confirmed: Confirmed): void; onCancel(): void }) {
  const { begun, onConfirmed, onCancel } = props;
  const kith = useKith();
  const proved = useProof();
  const form = useForm({ code: '' }, async ({ code }) => {
    // The proof that the user gave before the secret was shown may have expired. In this case `proved` asks for another proof.
    onConfirmed(await proved(() => kith.auth.confirmFactor({ factorId: begun.id, code })));
  });
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <FormProblem text={form.problem} />
      <p>Scan this code with the app on your phone:</p>
      <QrCode text={begun.url} label="QR code for the authenticator app" />
      <p>
        Or <a href={begun.url}>open it in an app on this device</a>, or type this secret into the app:
      </p>
      <Field label="Secret" value={begun.secret} readOnly />
      <Field
        label="Code that the app shows"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        {...form.field('code')}
      />
      <div className="dialog-actions">
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" type="submit" disabled={form.isBusy}>
          Add the app
        </Button>
      </div>
    </form>
  );
}
