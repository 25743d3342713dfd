// This entry of the package exports only the parts that small programs need. It does not load the log, the metrics or the
// traces.
export { StartError } from '../errors.ts';
export { isProcessAlive } from '../process-alive.ts';
export { flag, readConfig, readVariable, wholeNumber } from './read-config.ts';
