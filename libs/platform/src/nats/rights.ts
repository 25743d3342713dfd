import type { ServiceName } from '@kith/contracts';
import { streamNames } from '@kith/service';

/** A process with a NATS user of its own. */
export type NatsUser = ServiceName | 'gateway' | 'operator';

/** What a user may publish and subscribe to. */
export interface NatsRights {
  publish: string[];
  subscribe: string[];
}

/** What each service does on the bus beside serving its own operations. */
const uses: Record<ServiceName, { asks: string[]; events: string[]; durables: string[]; tells?: string[] }> =
  {
    crypto: { asks: [], events: [], durables: [] },
    identity: {
      asks: ['connections.blocks-page'],
      events: ['user', 'session'],
      durables: ['identity-blocks'],
      tells: ['notice.>'],
    },
    connections: {
      asks: ['identity.users-by-ids', 'identity.users-page'],
      events: ['connection'],
      durables: ['connections-profiles', 'connections-users'],
    },
    collections: { asks: [], events: ['collection'], durables: ['collections-users'] },
    notifications: {
      asks: ['identity.users-by-ids', 'identity.users-page'],
      events: ['notification'],
      durables: ['notifications-feed', 'notifications-profiles', 'notifications-users'],
      tells: ['feed.>'],
    },
  };

/**
 * The rights of every user under a prefix (docs/adr/0003). Context headers can be believed because of them: only the
 * gateway publishes `<prefix>.rpc.>`, a service asks only what is listed, publishes only its own features' events,
 * and nobody can read another's inbox.
 */
export function natsRights(prefix: string): Record<NatsUser, NatsRights> {
  const rights: Record<string, NatsRights> = {
    gateway: {
      publish: [
        `${prefix}.rpc.>`,
        `${prefix}.svc.identity.project-of-user`,
        `${prefix}.svc.identity.revocations`,
        ...['feed-open', 'feed-after', 'feed-close'].map((name) => `${prefix}.svc.notifications.${name}`),
      ],
      subscribe: ['_INBOX_gateway.>', `${prefix}.feed.*.*`, `${prefix}.notice.>`],
    },
  };
  // For commands: lists and replays dead letters, whichever consumer's they are.
  rights.operator = {
    publish: [
      `${prefix}.event.>`,
      ...streamRights(prefix),
      `$JS.API.STREAM.MSG.DELETE.${streamNames(prefix).dead}`,
      `$JS.API.CONSUMER.*.${streamNames(prefix).dead}.>`,
      `$JS.API.CONSUMER.MSG.NEXT.${streamNames(prefix).dead}.>`,
    ],
    subscribe: ['_INBOX_operator.>'],
  };
  for (const [service, use] of Object.entries(uses)) {
    const { events, durables } = use;
    rights[service] = {
      publish: [
        ...use.asks.map((operation) => `${prefix}.svc.${operation}`),
        ...events.map((feature) => `${prefix}.event.*.${feature}.>`),
        ...(use.tells ?? []).map((subject) => `${prefix}.${subject}`),
        ...(events.length + durables.length > 0 ? streamRights(prefix) : []),
        ...durables.flatMap((durable) => consumerRights(prefix, durable)),
      ],
      subscribe: [`${prefix}.rpc.${service}.>`, `${prefix}.svc.${service}.>`, `_INBOX_${service}.>`],
    };
  }
  return rights as Record<NatsUser, NatsRights>;
}

function streamRights(prefix: string): string[] {
  return Object.values(streamNames(prefix)).flatMap((stream) => [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.CREATE.${stream}`,
  ]);
}

function consumerRights(prefix: string, durable: string): string[] {
  const stream = streamNames(prefix).events;
  return [
    `$JS.API.CONSUMER.CREATE.${stream}.${durable}`,
    `$JS.API.CONSUMER.CREATE.${stream}.${durable}.>`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
    `${prefix}.dead.${durable}`,
  ];
}
