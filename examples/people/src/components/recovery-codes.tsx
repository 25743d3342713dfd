import { Dialog } from './dialog.tsx';
import { SubmitButton } from './submit-button.tsx';

/** Shows recovery codes. They cannot be shown a second time. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose(): void }) {
  return (
    <Dialog title="Your recovery codes" onClose={onClose}>
      {(close) => (
        <form action={close}>
          <p>
            Each of them signs you in once, without your phone. Print them or put them into a password
            manager: they are not shown again.
          </p>
          <ul className="recovery-codes" aria-label="Recovery codes">
            {codes.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ul>
          <div className="dialog-actions">
            <SubmitButton>I have kept them</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  );
}
