// Reading the environment, for who needs no more of this package: without databases, bus and telemetry.
export { StartError } from '../errors.ts';
export { commonConfig, mongoConfig, natsConfig, tokenConfig } from './common.ts';
export { flag, readConfig, wholeNumber } from './read-config.ts';
