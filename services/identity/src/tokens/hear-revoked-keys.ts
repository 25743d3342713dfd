import { type Intake, listenAtStart } from '@kith/bus';
import { noticeSubject, revocationNotice } from '@kith/contracts';
import type { ServiceRuntime } from '@kith/service';
import type { SigningKeys } from './signing-keys.ts';

/**
 * Makes this replica receive the notices about keys that another replica has revoked. At the start, and after the connection to
 * the bus was broken, the replica reads from the store which revocations it has missed.
 */
export async function hearRevokedKeys(keys: SigningKeys, { bus, log }: ServiceRuntime): Promise<Intake> {
  const hear = (kids: readonly string[]) => {
    keys.hearRevoked(kids);
    keys.settled().catch((error: unknown) => log.warn({ err: error }, 'signing keys not read'));
  };
  bus.onReconnect(() => hear([]));
  const intake = await listenAtStart(bus, noticeSubject(bus.prefix, revocationNotice), ({ body }) => {
    const { keys: kids } = revocationNotice.body.parse(JSON.parse(new TextDecoder().decode(body)));
    if (kids.length > 0) hear(kids);
  });
  hear([]);
  return intake;
}
