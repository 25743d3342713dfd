import { z } from 'zod';
import { apiKey } from './operations/api-keys.ts';
import { gatewaySettings } from './operations/projects.ts';
import { timestamp, uuid } from './scalars.ts';

/** A message to every process that listens when the message is sent. It is not stored. */
export interface NoticeSpec {
  name: string;
  /** A pattern for the subjects of the notice, without the prefix. */
  subjects: string;
}

/**
 * The revocations: gateways must refuse the tokens of these sessions and users, and the tokens that these keys have signed. A
 * gateway can request all current revocations, and gets each new revocation as a notice. After `until`, all affected tokens
 * have expired.
 */
export const revocations = z.object({
  sessions: z.array(z.object({ sessionId: z.string(), until: timestamp })),
  suspended: z.array(z.object({ userId: uuid, until: timestamp })),
  /**
   * Ids of signing keys that are revoked permanently. A version of identity that cannot revoke keys does not send this field.
   */
  keys: z.array(z.string()).default([]),
});
export type Revocations = z.output<typeof revocations>;

/** Tells every gateway about new revocations immediately. `restored` lists users who are no longer suspended. */
export const revocationNotice = {
  name: 'revocations',
  subjects: 'notice.revocations',
  body: revocations.extend({ restored: z.array(uuid) }),
} as const;
export type RevocationNotice = z.output<typeof revocationNotice.body>;

/** Tells every gateway the new settings of a project immediately after a change (docs/adr/0013). */
export const projectSettingsNotice = {
  name: 'project-settings',
  subjects: 'notice.project-settings',
  body: gatewaySettings,
} as const;

/**
 * Tells every gateway immediately about a new or a removed key (an operator key or a server key). If `key` is null, the key
 * with this hash was removed (docs/adr/0053).
 */
export const apiKeyNotice = {
  name: 'api-keys',
  subjects: 'notice.api-keys',
  body: z.object({ hash: z.string(), key: apiKey.nullable() }),
} as const;

/** Wakes the streams of a user's feed. The notice has no content, because each stream reads the feed itself. */
export const feedNotice = { name: 'feed', subjects: 'feed.*.*' } as const;

/** The subject of a notice that goes to all listeners. */
export function noticeSubject(prefix: string, notice: { name: string }): string {
  return `${prefix}.notice.${notice.name}`;
}

/** The subject of `feedNotice` for one feed. */
export function feedSubject(prefix: string, of: { projectId: string; userId: string }): string {
  return `${prefix}.feed.${of.projectId}.${of.userId}`;
}

/** The pattern that matches all subjects of a notice. Listeners of the notice subscribe to this pattern. */
export function noticeFilter(prefix: string, { subjects }: NoticeSpec): string {
  return `${prefix}.${subjects}`;
}
