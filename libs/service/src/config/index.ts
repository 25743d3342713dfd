// What processes read from their environment. Importing this file loads no other part of the package, so it loads no database,
// no bus and no telemetry.
export { commonConfig, mongoConfig, natsConfig, secretConfig, storeOf, tokenConfig } from './common.ts';
