import { type InputHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react';

interface Words {
  label: string;
  /** A text that helps to fill in the input. */
  hint?: string | undefined;
  /** The reason why the input's value is wrong. */
  error?: string | undefined;
}

type FieldProps = Words &
  (
    | (InputHTMLAttributes<HTMLInputElement> & { rows?: undefined })
    | (TextareaHTMLAttributes<HTMLTextAreaElement> & { rows: number })
  );

/** An input with its label, and a hint or an error below. If `rows` is given, the input has several lines. */
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
