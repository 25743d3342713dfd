/** A placeholder for cards that are being loaded. */
export function Skeleton({ count = 3 }: { count?: number }) {
  return (
    <div className="cards" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all placeholders are the same.
        <div key={index} className="card skeleton">
          <span className="avatar m" />
          <span className="skeleton-lines" />
        </div>
      ))}
    </div>
  );
}
