// The internals of this package that suites and measurements of other packages need.
export { moveData } from './cli/move/move.ts';
export { Source } from './cli/move/source.ts';
export { fingerprint } from './cli/move/state.ts';
export { Target } from './cli/move/target.ts';
