import { startCollections } from '@kith/collections';
import { startConnections } from '@kith/connections';
import type { ServiceName } from '@kith/contracts';
import { startCrypto } from '@kith/crypto';
import { startIdentity } from '@kith/identity';
import { startNotifications } from '@kith/notifications';
import type { RunningService, ServiceRuntime } from '@kith/service';
import type { StoreConfig } from '@kith/store';

/** What services are told beside their runtime; gateway and services must agree on issuer and audience. */
export interface ServiceSettings {
  tokenIssuer: string;
  tokenAudience: string;
  allowTestTokens: boolean;
  /** How long a notification is kept, in days. */
  notificationDays: number;
  /** Path of the list of erasures, if one is kept. */
  erasuresFile?: string | undefined;
}

/** Every service but the gateway, in the order they are started. */
export const serviceNames = [
  'identity',
  'crypto',
  'connections',
  'collections',
  'notifications',
] as const satisfies ServiceName[];

/** Starts one service inside this process. */
export function startServiceByName(
  name: ServiceName,
  runtime: ServiceRuntime,
  options: { store: StoreConfig; settings: ServiceSettings },
): Promise<RunningService> {
  const { store, settings } = options;
  switch (name) {
    case 'crypto':
      return startCrypto(runtime, settings);
    case 'identity':
      return startIdentity(runtime, { store, ...settings });
    case 'connections':
      return startConnections(runtime, { store });
    case 'collections':
      return startCollections(runtime, { store });
    case 'notifications':
      return startNotifications(runtime, { store, keepDays: settings.notificationDays });
  }
}
