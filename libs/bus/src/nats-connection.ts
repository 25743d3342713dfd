import { redactUrl, StartError } from '@kith/base';
import {
  type ConnectionOptions,
  connect,
  type NatsConnection,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import type { Logger } from 'pino';

export interface NatsBusOptions {
  url: string;
  /** Seed of this service's NKey user. The server's configuration defines the rights of this user (docs/adr/0003). */
  nkeySeed?: string | undefined;
  /**
   * The certificate authority (PEM) that signed the server's certificate. Needed if this process does not trust this authority
   * by default.
   */
  ca?: string | undefined;
  /** The name of the service. It is also the name of the connection, and a part of its inbox, `_INBOX_<name>.>`. */
  name: string;
  prefix: string;
  log: Logger;
  /**
   * How many servers of a cluster store each stream, 1 by default. If more servers already store a stream, their number is not
   * reduced.
   */
  replicas?: number;
  /** How long to try to make the first connection, in ms. */
  connectTimeoutMs?: number;
  /**
   * How long to repeat a failing step of the start over the same connection, in ms, 15 s by default. Meanwhile, the keeper may
   * create the streams and consumers (docs/adr/0056). Time without a connection does not count.
   */
  startMs?: number;
}

/** Makes the first connection. Tries again until the time is up, then throws `StartError`. */
export async function firstConnection(options: NatsBusOptions): Promise<NatsConnection> {
  const until = Date.now() + (options.connectTimeoutMs ?? 10_000);
  const settings: ConnectionOptions = {
    ...serversOf(options.url),
    name: options.name,
    inboxPrefix: inboxPrefix(options.name),
    noAsyncTraces: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    timeout: 3_000,
    // If a server or the network hangs, the client gives up the connection after two pings without a pong, and connects again.
    // With the client's default settings, this would take six minutes.
    pingInterval: 2_000,
    maxPingOut: 2,
    // Without this setting, the client closes permanently when the current server is replaced by another server with the same
    // users.
    ignoreAuthErrorAbort: true,
  };
  if (options.ca) settings.tls = { ca: options.ca };
  if (options.nkeySeed)
    settings.authenticator = nkeyAuthenticator(new TextEncoder().encode(options.nkeySeed));
  for (;;) {
    try {
      return await connect(settings);
    } catch (error) {
      const refused = /authorization violation/i.test((error as Error).message);
      if (refused || Date.now() > until) {
        const reason = refused ? 'refused the credentials' : `does not answer: ${(error as Error).message}`;
        throw new StartError(redactUrl(`NATS at ${options.url} ${reason}.`), { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/**
 * Reads the address of one server, or the addresses of several servers of a cluster, separated by commas. Uses the credentials
 * of the first address that has any. If any address is `tls://`, only an encrypted connection is made. Throws `StartError`.
 */
export function serversOf(text: string): ConnectionOptions {
  const urls = text.split(',').map((one) => {
    const address = one.trim();
    const url = URL.parse(address.includes('://') ? address : `nats://${address}`);
    if (!url?.host || !['nats:', 'tls:'].includes(url.protocol)) {
      throw new StartError(
        `NATS_URL: ${redactUrl(address)} is not a NATS address, nats://host:4222 or tls://host:4222.`,
      );
    }
    return url;
  });
  const named = urls.find(({ username }) => username);
  return {
    servers: urls.map(({ host }) => host),
    ...(urls.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    ...(named && { user: decodeURIComponent(named.username), pass: decodeURIComponent(named.password) }),
  };
}

/** The prefix of a service's inboxes. The service's rights on NATS depend on this prefix (docs/adr/0003). */
export function inboxPrefix(name: string): string {
  return `_INBOX_${name}`;
}
