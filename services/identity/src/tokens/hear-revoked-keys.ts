import type { Intake } from '@kith/bus';
import { noticeSubject, revocationNotice } from '@kith/contracts';
import type { ServiceRuntime } from '@kith/service';
import type { SigningKeys } from './signing-keys.ts';

/**
 * Makes this replica receive the notices about keys that another replica has revoked. After the connection to the bus was
 * broken, the replica reads the missed revocations from the store.
 */
export function hearRevokedKeys(keys: SigningKeys, { bus, log }: ServiceRuntime): Promise<Intake> {
  const hear = (kids: readonly string[]) => {
    keys.hearRevoked(kids);
    keys.settled().catch((error: unknown) => log.warn({ err: error }, 'signing keys not read'));
  };
  bus.onReconnect(() => hear([]));
  return bus.listen(noticeSubject(bus.prefix, revocationNotice), ({ body }) => {
    const { keys: kids } = revocationNotice.body.parse(JSON.parse(new TextDecoder().decode(body)));
    if (kids.length > 0) hear(kids);
  });
}
