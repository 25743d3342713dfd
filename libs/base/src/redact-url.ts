/** Removes the credentials from URLs in a text, for a log or an error. */
export function redactUrl(url: string): string {
  return url.replaceAll(/\/\/[^@/]*@/g, '//');
}
