/** The content of a verified access token. */
export interface AccessToken {
  userId: string;
  projectId: string;
  sessionId: string;
  role: string;
  /** The id of the key that signed the token. */
  keyId: string;
  /** Unix time in seconds. */
  issuedAt: number;
  expiresAt: number;
}
