import 'react';

declare module 'react' {
  interface CSSProperties {
    /** Degrees on the colour wheel. */
    '--hue'?: number;
    /** How deep something is nested. */
    '--level'?: number;
  }
}
