import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { SubmitButton } from './submit-button.tsx';

/** Asks for confirmation before an action that cannot be undone. */
export function ConfirmDialog(props: {
  title: string;
  text: string;
  action: string;
  onConfirm(): Promise<void>;
  onClose(): void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {(close) => (
        <form action={async () => props.onConfirm().then(close)}>
          <p>{props.text}</p>
          <div className="dialog-actions">
            <Button onClick={close}>Cancel</Button>
            <SubmitButton look="danger">{props.action}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  );
}
