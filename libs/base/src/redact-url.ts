/** URLs without their credentials, fit for a log or an error. */
export function redactUrl(url: string): string {
  return url.replaceAll(/\/\/[^@/]*@/g, '//');
}
