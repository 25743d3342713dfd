/** The content of a verified access token. */
export interface AccessToken {
  userId: string;
  projectId: string;
  sessionId: string;
  role: string;
  /** The id of the key that signed it. */
  keyId: string;
  /** Unix time in seconds. */
  issuedAt: number;
  expiresAt: number;
}
