import type { ButtonHTMLAttributes } from 'react';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: 'primary' | 'secondary' | 'quiet' | 'danger';
  icon?: IconName;
  /** Shows the icon alone; `aria-label` says what it does. */
  iconOnly?: boolean;
}

/** A button that does not submit a form unless its type says so. */
export function Button({ look = 'secondary', icon, iconOnly = false, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} className={`button ${look}${iconOnly ? ' icon-only' : ''}`}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
