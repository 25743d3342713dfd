import 'react';

declare module 'react' {
  interface CSSProperties {
    /** The hue, in degrees on the colour wheel. */
    '--hue'?: number;
    /** The depth of a nested element. */
    '--level'?: number;
  }
}
