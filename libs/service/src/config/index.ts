// What processes read from their environment. For code that needs nothing else of this package: no database, bus or telemetry.
export { commonConfig, mongoConfig, natsConfig, secretConfig, storeOf, tokenConfig } from './common.ts';
