import { createHash } from 'node:crypto';

/**
 * The id of the notification that an event makes. The same event always gives the same id. So if the event is delivered again,
 * the service finds the notification that it has already made. The id is a UUID of version 8 (RFC 9562 section 5.8), made from
 * the first bytes of a SHA-256. Do not replace this function by the newer `derivedId`, because the new ids would differ from
 * the stored ids.
 */
export function notificationIdOf(event: { projectId: string; id: string }): string {
  const bytes = createHash('sha256').update(`app-notification|${event.projectId}|${event.id}`).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
