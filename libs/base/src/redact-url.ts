/**
 * Removes the credentials from URLs in a text, for a log or an error. Removes everything before the last `@` of a word, because
 * a password may contain any character. If a word contains several addresses with credentials, only the last of these addresses
 * remains.
 */
export function redactUrl(text: string): string {
  return text.replaceAll(/([a-z][a-z\d+.-]*:\/\/)?\S*@/gi, '$1');
}
