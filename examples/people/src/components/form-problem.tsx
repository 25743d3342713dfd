/** Shows an error that is about a whole form, not about one field. */
export function FormProblem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p className="form-problem" role="alert">
      {text}
    </p>
  );
}
