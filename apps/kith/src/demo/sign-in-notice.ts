/** A user who cannot sign in, although the password is known. */
export interface RefusedUser {
  projectId: string;
  id: string;
  email: string;
  /** Why the user is refused: the answer's code and sentence. */
  code: string;
  sentence: string;
}

/**
 * Says why a user cannot sign in, and names a command that changes that. `kith` is the text with which each command for this
 * platform begins, for example `npx kith`.
 */
export function signInNotice(
  { projectId, id, email, code, sentence }: RefusedUser,
  kith = 'npx kith',
): string {
  const about = `${id} --project ${projectId}`;
  const command = {
    'auth/suspended': `users restore ${about}`,
    'auth/second-factor-required': `users remove-factors ${about}`,
    'auth/email-not-verified': `users update ${about} --verified yes`,
  }[code];
  const why =
    code === 'auth/invalid-credentials' ? 'The password was changed, or the account deleted.' : sentence;
  return `${email} is not signed in: ${why}${command === undefined ? '' : ` To change that: ${kith} ${command}`}`;
}

/** Says how to begin anew with another project. */
export function beginAnewNotice(projectId: string, kith = 'npx kith'): string {
  return `To start over: ${kith} projects delete ${projectId} --yes, then start again.`;
}
