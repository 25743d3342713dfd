/** The name and the logo of the application. */
export function Brand() {
  return (
    <span className="brand">
      <svg viewBox="4 5 24 22" aria-hidden="true">
        <circle cx="12" cy="13" r="7" />
        <circle cx="20" cy="19" r="7" />
      </svg>
      People
    </span>
  );
}
