// What the embedded form runs on: an entry of its own, as it loads SQLite.
export { InProcessBus } from './bus/in-process.ts';
export { isMoved, markMoved } from './store/moved.ts';
