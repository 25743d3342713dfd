// Reading the environment, for who needs no more of this package: without log, metrics and traces.
export { StartError } from '../errors.ts';
export { flag, readConfig, wholeNumber } from './read-config.ts';
