// What processes read from their environment, for who needs no more of this package: without databases, bus and telemetry.
export { commonConfig, mongoConfig, natsConfig, secretConfig, storeOf, tokenConfig } from './common.ts';
