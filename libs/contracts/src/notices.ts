import { z } from 'zod';
import { gatewaySettings } from './operations/projects.ts';
import { timestamp, uuid } from './scalars.ts';

/** What gateways must refuse: told when it happens, and as a snapshot. `until` is when the last token concerned ends. */
export const revocations = z.object({
  sessions: z.array(z.object({ sessionId: z.string(), until: timestamp })),
  suspended: z.array(z.object({ userId: uuid, until: timestamp })),
  /** Ids of signing keys, for good. Absent where identity is of a version that revokes none. */
  keys: z.array(z.string()).default([]),
});
export type Revocations = z.output<typeof revocations>;

/** Tells every gateway at once what is revoked; `restored` are users who are suspended no more. */
export const revocationNotice = {
  name: 'revocations',
  body: revocations.extend({ restored: z.array(uuid) }),
} as const;
export type RevocationNotice = z.output<typeof revocationNotice.body>;

/** Tells every gateway at once what it is to go by of a project whose settings were changed (docs/adr/0013). */
export const projectSettingsNotice = { name: 'project-settings', body: gatewaySettings } as const;

/** The subject of a notice: to whoever listens now, stored nowhere. */
export function noticeSubject(prefix: string, notice: { name: string }): string {
  return `${prefix}.notice.${notice.name}`;
}
