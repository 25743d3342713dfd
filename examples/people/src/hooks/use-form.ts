import { type FormEvent, useState } from 'react';
import { fieldOf, sentenceFor, sentenceOf } from '../lib/sentences.ts';

/** Stores the values of a form, sends them, and stores the error if sending fails. */
export function useForm<Values extends Record<string, string>>(
  first: Values,
  send: (values: Values) => Promise<void>,
) {
  const [values, setValues] = useState(first);
  const [error, setError] = useState<unknown>();
  const [isBusy, setIsBusy] = useState(false);
  const field = (name: keyof Values & string) => ({
    name,
    value: values[name] as string,
    error: sentenceFor(error, name),
    onChange: ({ target }: { target: { value: string } }) => {
      setValues({ ...values, [name]: target.value });
      if (sentenceFor(error, name)) setError(undefined);
    },
  });
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setError(undefined);
    try {
      await send(values);
    } catch (failure) {
      setError(failure);
    } finally {
      setIsBusy(false);
    }
  };
  const isOfField = Object.hasOwn(first, fieldOf(error) ?? '');
  /** The text of an error that is about no field of the form. If an error is about a field, it is shown at that field. */
  const problem = error === undefined || isOfField ? undefined : sentenceOf(error);
  return { values, setValues, field, onSubmit, isBusy, error, problem };
}
