import { Icon } from './icon.tsx';

/** An input to look for people by their name. */
export function SearchField(props: { label: string; value: string; onChange(value: string): void }) {
  return (
    <search className="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={props.label}
        placeholder={props.label}
        value={props.value}
        maxLength={100}
        autoComplete="off"
        onChange={(event) => props.onChange(event.target.value)}
      />
    </search>
  );
}
