// Internals of this package that tests and measurements in other packages need.
export { moveData } from './cli/move/move.ts';
export { Source } from './cli/move/source.ts';
export { fingerprint } from './cli/move/state.ts';
export { Target } from './cli/move/target.ts';
