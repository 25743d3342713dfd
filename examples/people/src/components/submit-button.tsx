import { useFormStatus } from 'react-dom';
import { Button, type ButtonProps } from './button.tsx';

/** Submits the form around it; it is disabled while the form is being sent. */
export function SubmitButton(props: ButtonProps) {
  const { pending } = useFormStatus();
  return <Button look="primary" {...props} type="submit" disabled={pending} />;
}
