import type { ButtonHTMLAttributes } from 'react';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: 'primary' | 'secondary' | 'quiet' | 'danger';
  icon?: IconName;
  /** Shows only the icon. `aria-label` then describes the button. */
  iconOnly?: boolean;
}

/** A button. It submits a form only if its type is `submit`. */
export function Button({ look = 'secondary', icon, iconOnly = false, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} className={`button ${look}${iconOnly ? ' icon-only' : ''}`}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
