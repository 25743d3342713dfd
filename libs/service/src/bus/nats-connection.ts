import {
  type ConnectionOptions,
  connect,
  type NatsConnection,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { StartError } from '../errors.ts';
import type { NatsBusOptions } from './nats.ts';

/** Connects for the first time, trying again until the time is up. Throws `StartError`. */
export async function firstConnection(options: NatsBusOptions): Promise<NatsConnection> {
  const until = Date.now() + (options.connectTimeoutMs ?? 10_000);
  const url = new URL(options.url.includes('://') ? options.url : `nats://${options.url}`);
  const settings: ConnectionOptions = {
    servers: url.host,
    name: options.name,
    inboxPrefix: inboxPrefix(options.name),
    noAsyncTraces: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    timeout: 3_000,
    // Without it, a server that is replaced by one with the same users would end the client for good.
    ignoreAuthErrorAbort: true,
  };
  if (options.nkeySeed)
    settings.authenticator = nkeyAuthenticator(new TextEncoder().encode(options.nkeySeed));
  else if (url.username) {
    settings.user = decodeURIComponent(url.username);
    settings.pass = decodeURIComponent(url.password);
  }
  for (;;) {
    try {
      return await connect(settings);
    } catch (error) {
      const refused = /authorization violation/i.test((error as Error).message);
      if (refused || Date.now() > until) {
        const reason = refused ? 'refused the credentials' : 'does not answer';
        throw new StartError(`NATS at ${redactUrl(options.url)} ${reason}.`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** What a service's inboxes begin with; its rights go by it (docs/adr/0003). */
export function inboxPrefix(name: string): string {
  return `_INBOX_${name}`;
}

/** A URL without its credentials, fit for a log or an error. */
export function redactUrl(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//');
}
