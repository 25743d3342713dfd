import { StartError } from '@kith/base/config';

/** The part of a process's environment that says how the process reaches its engines. */
export interface EngineAddresses {
  NODE_ENV: string;
  ALLOW_PLAIN_ENGINES: boolean;
  NATS_URL?: string | undefined;
  NATS_NKEY?: string | undefined;
  MONGODB_URL?: string | undefined;
  REDIS_URL?: string | undefined;
}

/**
 * In production, refuses engines that are reached over a network without encryption or without credentials (docs/adr/0055).
 * Engines on this machine's loopback are allowed, because nobody else can read that traffic. Throws `StartError`.
 */
export function refusePlainEngines(config: EngineAddresses): void {
  if (config.NODE_ENV !== 'production' || config.ALLOW_PLAIN_ENGINES) return;
  const { NATS_URL = '', NATS_NKEY, MONGODB_URL = '', REDIS_URL = '' } = config;
  const nats = NATS_URL.split(',').map((one) => one.trim());
  const isEncrypted = {
    // If at least one address begins with `tls://`, the NATS client uses TLS for all addresses.
    NATS_URL: nats.some((one) => one.startsWith('tls://')) || nats.every(isLocal),
    MONGODB_URL: isLocal(MONGODB_URL) || /^mongodb\+srv:|[?&](tls|ssl)=true(&|$)/i.test(MONGODB_URL),
    REDIS_URL: isLocal(REDIS_URL) || REDIS_URL.startsWith('rediss://'),
  };
  const isKnown = {
    NATS_URL: nats.every(isLocal) || NATS_NKEY !== undefined || nats.some(hasUser),
    MONGODB_URL: isLocal(MONGODB_URL) || hasUser(MONGODB_URL) || /authMechanism=/i.test(MONGODB_URL),
    REDIS_URL: isLocal(REDIS_URL) || hasUser(REDIS_URL),
  };
  for (const name of ['NATS_URL', 'MONGODB_URL', 'REDIS_URL'] as const) {
    const lacks = [...(isEncrypted[name] ? [] : ['TLS']), ...(isKnown[name] ? [] : ['credentials'])];
    if (!config[name] || lacks.length === 0) continue;
    throw new StartError(
      `${name}: in production an engine on a network needs ${lacks.join(' and ')}; set ALLOW_PLAIN_ENGINES=true to go without.`,
    );
  }
}

/** The part of an address between the scheme and the path. It may name several hosts, separated by commas. */
function authority(url: string): string {
  return url.replace(/^[a-z+]+:\/\//i, '').replace(/[/?].*$/s, '');
}

const hasUser = (url: string) => authority(url).includes('@');

function isLocal(url: string): boolean {
  const hosts = authority(url).replace(/^.*@/, '').split(',');
  return hosts.every((host) => /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(host));
}
