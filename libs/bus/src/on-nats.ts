// The bus of the distributed form. No other entry of this package loads the NATS client.
export { type ExaminedNats, examineNats } from './examine-nats.ts';
export { NatsBus } from './nats.ts';
export { type NatsBusOptions, serversOf } from './nats-connection.ts';
export type { Position } from './nats-dead-letters.ts';
export { keepStreams, type NatsKeeper } from './nats-keeper.ts';
