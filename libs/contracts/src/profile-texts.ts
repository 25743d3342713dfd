import { clearable, text } from './scalars.ts';

/**
 * Characters that can make a name look like another name. These are control characters, and characters that embed, override or
 * isolate a direction of writing. Direction marks are allowed, because names in right-to-left scripts need them.
 */
const deceiving = '\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069';
const deceives = new RegExp(`[${deceiving}]`);

/** A name that may be absent or cleared, like `clearableText` (spec#users-name-characters). */
export function nameText(max: number) {
  return clearable(
    text({ max })
      .refine(
        (value) => !deceives.test(value),
        'must have no control characters and none that change the direction of writing.',
      )
      .meta({ maxLength: max, pattern: `^[^${deceiving}]*$` }),
  );
}

/** The address of a picture; may be absent or cleared, like `clearableText` (spec#users-avatar). */
export function avatarText(max: number) {
  return clearable(
    text({ max })
      .refine(
        (value) => value === '' || isAvatar(value),
        'must be an http(s) URL, or a path that begins with one slash.',
      )
      .meta({ maxLength: max, pattern: '^\\s*([Hh][Tt][Tt][Pp][Ss]?://|/|$)' }),
  );
}

/** A made-up site, against which a path is resolved. The result must still be on this site. */
const site = 'http://site.invalid';

/**
 * Checks an address with the URL parser, as browsers do. A text may look like a path, but belong to another host: the parser
 * reads `/\\host`, and also `/` + tab + `/host`, as `//host`.
 */
function isAvatar(value: string): boolean {
  if (/^https?:\/\//i.test(value)) return URL.canParse(value);
  return value.startsWith('/') && URL.parse(value, site)?.origin === site;
}
