// What processes read from their environment. Code can import this without the rest of the package, and so without database,
// bus or telemetry.
export { commonConfig, mongoConfig, natsConfig, secretConfig, storeOf, tokenConfig } from './common.ts';
