import { clearable, text } from './scalars.ts';

/**
 * Control characters, and those that embed, override or isolate a direction of writing: with them a name looks like another
 * one. Marks of direction are none of them: names in right-to-left scripts need these.
 */
const deceiving = '\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069';
const deceives = new RegExp(`[${deceiving}]`);

/** A name that may be absent or cleared, as `clearableText` (spec#users-name-characters). */
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

/** Where a picture is; may be absent or cleared, as `clearableText` (spec#users-avatar). */
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

/** Stands for the site that shows the picture. */
const site = 'http://site.invalid';

/** Asks the URL parser, as browsers do: to it `/\\host` and `/`, a tab and `/host` are addresses of another host. */
function isAvatar(value: string): boolean {
  if (/^https?:\/\//i.test(value)) return URL.canParse(value);
  return value.startsWith('/') && URL.parse(value, site)?.origin === site;
}
