import type { StoreConfig } from '@kith/store';
import { dieBeforeWrite } from '@kith/testing/die-before-write';
import { makeApp } from './app.ts';
import { eraseToTheEnd } from './erase-projects.ts';

const work: { store: StoreConfig; number: number } = JSON.parse(process.argv[2] ?? '{}');
await using undo = new AsyncDisposableStack();
const app = await makeApp('embedded', undo, work.store);
dieBeforeWrite(work.number);
await eraseToTheEnd(app);
process.stdout.write('acknowledged');
