/** What a verified access token says. */
export interface AccessToken {
  userId: string;
  projectId: string;
  sessionId: string;
  role: string;
  tokenId: string;
  /** The key that it is signed with. */
  keyId: string;
  /** Unix time in seconds. */
  issuedAt: number;
  expiresAt: number;
}
