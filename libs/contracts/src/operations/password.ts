import { z } from 'zod';
import { codePoints } from '../scalars.ts';

/**
 * The longest password, in code points (spec#accounts-long-password). The length is checked first, because normalizing Unicode
 * can take long: for twice as many combining marks in a row, it takes four times as long. As everywhere, the length is counted
 * after trimming (spec#requests-lengths). So the number of blanks at the ends is not limited. This does no harm, because blanks
 * are normalized quickly.
 */
const longestPassword = 256;
/** A password as the caller gives it, with the blanks at its ends. */
export const password = z
  .string()
  .refine(
    (value) => codePoints(value.trim()) <= longestPassword,
    `must be at most ${longestPassword} characters long.`,
  )
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode.')
  .meta({ format: 'password', maxLength: longestPassword });

const shortestPassword = 8;
/** A password that becomes a user's password. It must be strong enough (spec#accounts-weak-password). */
export const newPassword = password.refine((value) => codePoints(value.trim()) >= shortestPassword, {
  params: { code: 'auth/weak-password' },
  error: `must have at least ${shortestPassword} characters.`,
});
