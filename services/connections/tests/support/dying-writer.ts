import type { StoreConfig } from '@kith/store';
import { dieBeforeWrite } from '@kith/testing/die-before-write';
import type { Action } from '../../src/machine.ts';
import { openStore } from '../../src/store/index.ts';
import { perform } from './pairs.ts';

/**
 * The child's task: who performs which action on whom, and `number`. Just before its write with this number, the child has to
 * die.
 */
export interface DyingChange {
  store: StoreConfig;
  projectId: string;
  userId: string;
  otherId: string;
  action: Action;
  number: number;
}

const { store: config, number, ...of }: DyingChange = JSON.parse(process.argv[2] ?? '{}');
const store = await openStore(config);
dieBeforeWrite(number);
await perform(store, of);
process.stdout.write('acknowledged');
await store.close();
