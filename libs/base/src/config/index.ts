// The modules of this package that small programs need. It has no log, metrics or traces.
export { StartError } from '../errors.ts';
export { isProcessAlive } from '../process-alive.ts';
export { flag, readConfig, readVariable, wholeNumber } from './read-config.ts';
