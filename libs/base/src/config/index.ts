// The part of this package that small programs need, without log, metrics and traces.
export { StartError } from '../errors.ts';
export { isProcessAlive } from '../process-alive.ts';
export { flag, readConfig, wholeNumber } from './read-config.ts';
