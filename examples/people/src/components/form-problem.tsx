/** Shows an error of a form as a whole. */
export function FormProblem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p className="form-problem" role="alert">
      {text}
    </p>
  );
}
