import { z } from 'zod';
import { codePoints } from '../scalars.ts';

/**
 * Longest password, in code points (spec#accounts-long-password). Checked before anything else is done with one: to
 * normalize Unicode takes time that grows with the square of a run of combining marks.
 */
const longestPassword = 256;
/** A password as it is given. */
export const password = z
  .string()
  .refine(
    (value) => codePoints(value) <= longestPassword,
    `must be at most ${longestPassword} characters long.`,
  )
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode.')
  .meta({ format: 'password', maxLength: longestPassword });
