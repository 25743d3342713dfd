import { streamNames } from '@kith/bus';
import { internalSubject, noticeFilter } from '@kith/contracts';
import { gatewayUses } from '@kith/gateway';
import type { BusUses } from '@kith/service';
import { type ProcessName, services } from '../services.ts';

/** A process with a NATS user of its own. */
export type NatsUser = ProcessName | 'keeper' | 'operator';

/** What a user may publish and subscribe to. */
export interface NatsRights {
  publish: string[];
  subscribe: string[];
}

/**
 * The rights of every user under a prefix (docs/adr/0003), from the manifests (docs/adr/0042). Services can trust context
 * headers because of these rights: only the gateway may publish `<prefix>.rpc.>`. A service may send only the listed requests,
 * and publish only events of its own features. No user may read another user's inbox. A NATS user that makes a consumer can
 * choose any subject, and the server then delivers to this subject. So only the keeper may make streams and consumers
 * (docs/adr/0056).
 */
export function natsRights(prefix: string): Record<NatsUser, NatsRights> {
  const processes: readonly BusUses[] = [gatewayUses, ...services];
  const rights = processes.map((uses) => [uses.name, rightsOf(uses, prefix)] as const);
  return {
    ...(Object.fromEntries(rights) as Record<ProcessName, NatsRights>),
    keeper: keeperRights(prefix),
    operator: operatorRights(prefix),
  };
}

function rightsOf(uses: BusUses, prefix: string): NatsRights {
  const { name, asks = [], emits = [], subscriptions = [], tells = [], hears = [] } = uses;
  return {
    publish: distinct([
      ...(uses.forwards ? [`${prefix}.rpc.>`] : []),
      ...asks.map((operation) => internalSubject(prefix, operation)),
      ...emits.map((feature) => `${prefix}.event.*.${feature}.>`),
      ...tells.map((notice) => noticeFilter(prefix, notice)),
      ...(emits.length + subscriptions.length > 0 ? streamInfo(prefix) : []),
      ...subscriptions.flatMap(({ durable }) => consumerRights(prefix, durable)),
      ...(subscriptions.length > 0 ? burialRights(prefix) : []),
      ...(emits.length > 0 ? withdrawalRights(prefix) : []),
    ]),
    subscribe: [
      ...(uses.operations ? [`${prefix}.rpc.${name}.>`, `${prefix}.svc.${name}.>`] : []),
      `_INBOX_${name}.>`,
      ...hears.map((notice) => noticeFilter(prefix, notice)),
    ],
  };
}

const distinct = (subjects: string[]) => [...new Set(subjects)];

/** The rights of the operator's commands, which list and replay the dead letters of any consumer. */
function operatorRights(prefix: string): NatsRights {
  return {
    publish: [
      `${prefix}.event.>`,
      `${prefix}.dead.*.*.replayed`,
      ...streamInfo(prefix),
      ...Object.values(streamNames(prefix)).flatMap((stream) => [
        `$JS.API.STREAM.MSG.GET.${stream}`,
        `$JS.API.STREAM.MSG.DELETE.${stream}`,
      ]),
      `$JS.API.CONSUMER.LIST.${streamNames(prefix).events}`,
    ],
    subscribe: ['_INBOX_operator.>'],
  };
}

/** The rights of the keeper. The keeper makes streams and consumers, and makes them again when they are lost. */
function keeperRights(prefix: string): NatsRights {
  const { events, dead } = streamNames(prefix);
  return {
    publish: [
      ...streamInfo(prefix),
      ...[events, dead].flatMap((stream) => [
        `$JS.API.STREAM.CREATE.${stream}`,
        `$JS.API.STREAM.UPDATE.${stream}`,
      ]),
      `$JS.API.CONSUMER.LIST.${events}`,
      `$JS.API.CONSUMER.INFO.${events}.*`,
      `$JS.API.CONSUMER.CREATE.${events}.>`,
      `$JS.API.CONSUMER.DURABLE.CREATE.${events}.*`,
    ],
    subscribe: ['_INBOX_keeper.>'],
  };
}

function streamInfo(prefix: string): string[] {
  return Object.values(streamNames(prefix)).map((stream) => `$JS.API.STREAM.INFO.${stream}`);
}

function consumerRights(prefix: string, durable: string): string[] {
  const stream = streamNames(prefix).events;
  return [
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.DELETE.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
    `${prefix}.dead.${durable}.*`,
  ];
}

/**
 * Rights that a consumer needs when it gives up an event. The consumer checks whether the event was withdrawn in the meantime. If
 * so, the consumer removes the event's dead letter.
 */
function burialRights(prefix: string): string[] {
  const { events, dead } = streamNames(prefix);
  return [`$JS.API.STREAM.MSG.GET.${events}`, `$JS.API.STREAM.PURGE.${dead}`];
}

/** Rights to read and delete the events about an erased user, and their dead letters (docs/adr/0014). */
function withdrawalRights(prefix: string): string[] {
  const { events, dead } = streamNames(prefix);
  return [
    `$JS.API.STREAM.MSG.GET.${events}`,
    `$JS.API.STREAM.MSG.DELETE.${events}`,
    `$JS.API.STREAM.MSG.GET.${dead}`,
    `$JS.API.STREAM.PURGE.${dead}`,
  ];
}
