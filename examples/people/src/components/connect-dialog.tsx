import { useId } from 'react';
import { nameOf, type Person } from '../lib/people.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { SubmitButton } from './submit-button.tsx';

/** Asks for a message to send with a request. */
export function ConnectDialog(props: {
  person: Person;
  onSend(message: string): Promise<void>;
  onClose(): void;
}) {
  const id = useId();
  return (
    <Dialog title={`Connect with ${nameOf(props.person)}`} onClose={props.onClose}>
      {(close) => (
        <form action={async (form) => props.onSend(String(form.get('message')).trim()).then(close)}>
          <div className="field">
            <label htmlFor={id}>Message (optional)</label>
            <textarea
              id={id}
              name="message"
              rows={3}
              maxLength={1000}
              placeholder="How do you know each other?"
            />
          </div>
          <div className="dialog-actions">
            <Button onClick={close}>Cancel</Button>
            <SubmitButton>Send request</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  );
}
