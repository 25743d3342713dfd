// What suites and measurements of other packages need of its insides.
export { moveData } from './cli/move/move.ts';
export { Source } from './cli/move/source.ts';
export { fingerprint } from './cli/move/state.ts';
export { Target } from './cli/move/target.ts';
