import { useFormStatus } from 'react-dom';
import { Button, type ButtonProps } from './button.tsx';

/** A button that submits the form around it. While the form is being sent, the button is disabled. */
export function SubmitButton(props: ButtonProps) {
  const { pending } = useFormStatus();
  return <Button look="primary" {...props} type="submit" disabled={pending} />;
}
