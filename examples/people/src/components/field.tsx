import { type InputHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react';

interface Words {
  label: string;
  /** What helps to fill it in. */
  hint?: string | undefined;
  /** What is wrong with what is in it. */
  error?: string | undefined;
}

type FieldProps = Words &
  (
    | (InputHTMLAttributes<HTMLInputElement> & { rows?: undefined })
    | (TextareaHTMLAttributes<HTMLTextAreaElement> & { rows: number })
  );

/** An input with its label, and what is to be said of it below; with `rows` one of several lines. */
export function Field({ label, hint, error, ...input }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  const common = {
    id,
    'aria-invalid': error !== undefined,
    'aria-describedby': note === undefined ? undefined : `${id}-note`,
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {input.rows === undefined ? <input {...input} {...common} /> : <textarea {...input} {...common} />}
      {note !== undefined && (
        <p id={`${id}-note`} className={error === undefined ? 'hint' : 'hint wrong'}>
          {note}
        </p>
      )}
    </div>
  );
}
