import { useFormStatus } from 'react-dom';
import { Button, type ButtonProps } from './button.tsx';

/** Submits the form around it, once at a time. */
export function SubmitButton(props: ButtonProps) {
  const { pending } = useFormStatus();
  return <Button look="primary" {...props} type="submit" disabled={pending} />;
}
