import { streamNames } from '@kith/bus';
import { internalSubject, operations, type ServiceName } from '@kith/contracts';

/** A process with a NATS user of its own. */
export type NatsUser = ServiceName | 'gateway' | 'operator';

/** What a user may publish and subscribe to. */
export interface NatsRights {
  publish: string[];
  subscribe: string[];
}

/** What each service does on the bus beside serving its own operations. */
const uses: Record<
  ServiceName,
  { asks: string[]; events: string[]; durables: string[]; tells?: string[]; hears?: string[] }
> = {
  crypto: { asks: [], events: [], durables: [] },
  identity: {
    asks: ['connections.blocks-page'],
    events: ['user', 'session'],
    durables: ['identity-blocks', 'identity-users'],
    tells: ['notice.>'],
    // Replicas tell each other of revoked keys.
    hears: ['notice.revocations'],
  },
  connections: {
    asks: ['identity.users-by-ids', 'identity.users-page', 'identity.known-users'],
    events: ['connection'],
    durables: ['connections-profiles', 'connections-users', 'connections-blocks'],
  },
  collections: {
    asks: ['identity.known-users'],
    events: ['collection'],
    durables: ['collections-users'],
  },
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
        `${prefix}.svc.identity.project-settings`,
        ...['feed-open', 'feed-after', 'feed-close'].map((name) => `${prefix}.svc.notifications.${name}`),
        ...operations
          .flatMap(({ parts }) => Object.values(parts?.sections ?? {}))
          .map((section) => internalSubject(prefix, section)),
      ],
      subscribe: ['_INBOX_gateway.>', `${prefix}.feed.*.*`, `${prefix}.notice.>`],
    },
  };
  // For commands: lists and replays dead letters, whichever consumer's they are.
  rights.operator = {
    publish: [
      `${prefix}.event.>`,
      `${prefix}.dead.*.*.replayed`,
      ...streamRights(prefix),
      ...Object.values(streamNames(prefix)).flatMap((stream) => [
        `$JS.API.STREAM.MSG.GET.${stream}`,
        `$JS.API.STREAM.MSG.DELETE.${stream}`,
      ]),
      `$JS.API.CONSUMER.LIST.${streamNames(prefix).events}`,
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
        ...(durables.length > 0 ? burialRights(prefix) : []),
        ...(events.length > 0 ? withdrawalRights(prefix, service) : []),
      ],
      subscribe: [
        `${prefix}.rpc.${service}.>`,
        `${prefix}.svc.${service}.>`,
        `_INBOX_${service}.>`,
        ...(use.hears ?? []).map((subject) => `${prefix}.${subject}`),
      ],
    };
  }
  return rights as Record<NatsUser, NatsRights>;
}

function streamRights(prefix: string): string[] {
  return Object.values(streamNames(prefix)).flatMap((stream) => [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.CREATE.${stream}`,
    `$JS.API.STREAM.UPDATE.${stream}`,
  ]);
}

function consumerRights(prefix: string, durable: string): string[] {
  const stream = streamNames(prefix).events;
  return [
    `$JS.API.CONSUMER.CREATE.${stream}.${durable}`,
    `$JS.API.CONSUMER.CREATE.${stream}.${durable}.>`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.DELETE.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
    `${prefix}.dead.${durable}.*`,
  ];
}

/** To see whether an event that is given up was withdrawn meanwhile, and then to take its letter back. */
function burialRights(prefix: string): string[] {
  const { events, dead } = streamNames(prefix);
  return [`$JS.API.STREAM.MSG.GET.${events}`, `$JS.API.STREAM.PURGE.${dead}`];
}

/** To take out what was published of an erased user: a reader of its own, and deleting (docs/adr/0014). */
function withdrawalRights(prefix: string, service: string): string[] {
  const { events, dead } = streamNames(prefix);
  const reader = `${events}.${service}-withdrawals`;
  return [
    ...['DURABLE.CREATE', 'INFO', 'MSG.NEXT', 'DELETE'].map(
      (action) => `$JS.API.CONSUMER.${action}.${reader}`,
    ),
    `$JS.API.STREAM.MSG.GET.${events}`,
    `$JS.API.STREAM.MSG.DELETE.${events}`,
    `$JS.API.STREAM.PURGE.${dead}`,
  ];
}
