/** Whether a subject matches a NATS pattern. In a pattern, `*` stands for one token, and `>` at the end for one or more tokens. */
export function subjectMatches(pattern: string, subject: string): boolean {
  const wanted = pattern.split('.');
  const tokens = subject.split('.');
  for (const [index, token] of wanted.entries()) {
    if (token === '>') return tokens.length > index;
    if (index >= tokens.length) return false;
    if (token !== '*' && token !== tokens[index]) return false;
  }
  return wanted.length === tokens.length;
}
