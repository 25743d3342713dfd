import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { SubmitButton } from './submit-button.tsx';

/** Asks for a folder's name. */
export function FolderNameDialog(props: {
  title: string;
  action: string;
  name?: string;
  onName(name: string): Promise<void>;
  onClose(): void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {(close) => (
        <form action={async (form) => props.onName(String(form.get('name'))).then(close)}>
          <Field
            label="Name"
            name="name"
            defaultValue={props.name}
            required
            maxLength={200}
            autoComplete="off"
          />
          <div className="dialog-actions">
            <Button onClick={close}>Cancel</Button>
            <SubmitButton>{props.action}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  );
}
