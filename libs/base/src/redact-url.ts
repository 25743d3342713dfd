/**
 * Removes the credentials from URLs in a text, for a log or an error. Everything before the last `@` of a word goes, whatever
 * characters a password has. So of several addresses with credentials in one word, only the last is left.
 */
export function redactUrl(text: string): string {
  return text.replaceAll(/([a-z][a-z\d+.-]*:\/\/)?\S*@/gi, '$1');
}
