import { type InputHTMLAttributes, useId } from 'react';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  /** What helps to fill it in. */
  hint?: string | undefined;
  /** What is wrong with what is in it. */
  error?: string | undefined;
}

/** An input with its label, and what is to be said of it below. */
export function Field({ label, hint, error, ...input }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        aria-invalid={error !== undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
      />
      {note !== undefined && (
        <p id={`${id}-note`} className={error === undefined ? 'hint' : 'hint wrong'}>
          {note}
        </p>
      )}
    </div>
  );
}
