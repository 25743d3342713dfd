import type { StoreConfig } from '@kith/store';
import { dieBeforeWrite } from '@kith/testing/die-before-write';
import { append, type NewNotification, type Owner, remove } from '../../src/feed.ts';
import { openStore } from '../../src/store/index.ts';

/**
 * The task of the child process: the notification to add, or the id of the notification to remove. `number` is the number of
 * the write before which the child dies.
 */
export interface DyingChange {
  store: StoreConfig;
  owner: Owner;
  add?: NewNotification;
  remove?: string;
  number: number;
}

const work: DyingChange = JSON.parse(process.argv[2] ?? '{}');
const store = await openStore(work.store);
dieBeforeWrite(work.number);
const before = await store.feed(work.owner);
if (work.add) {
  const { feed, entry } = append(before, work.add);
  await store.change(before, { feed, put: [entry] });
} else {
  const [entry] = await store.find(work.owner, [work.remove ?? '']);
  if (!entry) throw new Error('It is not there.');
  await store.change(before, { feed: remove(before, [entry]), remove: [entry] });
}
process.stdout.write('acknowledged');
await store.close();
