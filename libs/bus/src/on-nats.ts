// The bus of the distributed form, and the only entry that loads a driver of NATS.
export { type ExaminedNats, examineNats } from './examine-nats.ts';
export { NatsBus } from './nats.ts';
export { type NatsBusOptions, serversOf } from './nats-connection.ts';
export type { Position } from './nats-dead-letters.ts';
export { keepStreams, type NatsKeeper } from './nats-keeper.ts';
