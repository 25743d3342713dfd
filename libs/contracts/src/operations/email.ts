import { z } from 'zod';

/** An e-mail address, lower-cased (spec#accounts-email-case). */
export const email = z
  .string()
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.email().max(254))
  .meta({ format: 'email', maxLength: 254, pattern: `^\\s*${z.regexes.email.source.slice(1, -1)}\\s*$` });
