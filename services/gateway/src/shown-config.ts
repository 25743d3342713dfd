import { isWebOrigin } from '@kith/contracts';
import { z } from 'zod';

/**
 * Reads a list that is separated by commas. If an entry is wrong, `refuse` says what is wrong. Its text continues a sentence
 * whose first word is the entry.
 */
function list(refuse: (entry: string, all: readonly string[]) => string | undefined) {
  return z.string().transform((text, context): readonly string[] => {
    const entries = text.split(',').map((entry) => entry.trim());
    for (const entry of entries) {
      const wrong = refuse(entry, entries);
      if (wrong === undefined) continue;
      context.issues.push({ code: 'custom', message: `"${entry}" ${wrong}`, input: text });
      return z.NEVER;
    }
    return entries;
  });
}

const origins = list((entry, { length }) => {
  if (entry === '*' ? length === 1 : isWebOrigin(entry)) return undefined;
  if (entry === '*') return 'allows every origin, so it must be the only entry';
  return 'is not a web origin, such as https://app.example.org or https://*.example.org';
});

const contacts = list((entry) =>
  /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(entry)
    ? undefined
    : 'is not an address, such as mailto:security@example.org or https://example.org/report',
);

/** The environment variables that say which pages the gateway shows, and which web origins may call it. */
export const shownConfig = z.object({
  CORS_ORIGINS: origins
    .default(['*'])
    .describe(
      'web origins that may call the API, separated by commas; a host may begin with `*.`; `*` alone allows every origin',
    ),
  API_REFERENCE: z
    .enum(['all', 'errors', 'none'])
    .optional()
    .describe(
      'which part of the API reference is shown: `all`, only the page of `errors`, or `none` (default: `errors` in production, otherwise `all`)',
    ),
  SECURITY_CONTACT: contacts
    .default([])
    .describe(
      'where to report security weaknesses, `mailto:` or `https:` addresses, separated by commas; shown in `/.well-known/security.txt`',
    ),
  SECURITY_POLICY: z
    .url({ protocol: /^https$/, error: 'an https address is needed' })
    .optional()
    .describe('page that says how to report security weaknesses; shown in `/.well-known/security.txt`'),
});
