// What processes read from their environment. Importing this file does not load the rest of the package, and so no database,
// bus or telemetry.
export { commonConfig, mongoConfig, natsConfig, secretConfig, storeOf, tokenConfig } from './common.ts';
