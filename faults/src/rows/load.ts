import { residentBytes } from '@kith/bench/processes';
import type { Row, Stage } from '../row.ts';
import type { Nodes } from '../world/nodes.ts';

const megabyte = 2 ** 20;

export const loadRows: readonly Row<Nodes>[] = [
  {
    name: 'celebrity',
    title: '500 requests a second about one person, for 15 s',
    times: 1,
    quick: 1,
    async fault({ crowd, rest }) {
      const end = crowd.load(500, crowd.aboutTheFirst);
      await rest(15_000);
      await end();
    },
  },
  {
    name: 'overload',
    title: 'five times as many requests as the platform can answer, for 15 s',
    times: 1,
    quick: 0,
    async fault(stage) {
      const { world, crowd, rest, record } = stage;
      const before = memory(stage);
      const served = record.served;
      // The rate is higher than any machine can serve. So only the number of waiting requests limits the load, and the platform
      // is always busy.
      const fill = crowd.load(1_000_000, undefined, 400);
      await rest(5_000);
      await fill();
      const capacity = (record.served - served) / 5;
      stage.progress(`answers ${Math.round(capacity)} requests a second`);
      const end = crowd.load(5 * capacity, undefined, 4_000);
      let most = 0;
      for (let second = 0; second < 15; second++) {
        await rest(1_000);
        most = Math.max(most, ...world.replicas.map(({ pid }) => (pid ? residentBytes(pid) : 0)));
      }
      await end();
      const from = performance.now();
      // The platform is back to normal when all requests of a whole second were served.
      for (let calm = 0; calm < 4; ) {
        const { unanswered } = record;
        await rest(250);
        calm = record.unanswered === unanswered ? calm + 1 : 0;
        if (performance.now() - from > 5_000)
          throw new Error('The platform still refused requests 5 s after the overload.');
      }
      const limit = 2 * before + 200 * megabyte;
      if (most > limit)
        throw new Error(`A process grew from ${before / megabyte} to ${most / megabyte} MiB.`);
    },
  },
];

/** The memory of the largest process, in bytes. */
function memory({ world }: Stage<Nodes>): number {
  return Math.max(...world.replicas.map(({ pid }) => (pid ? residentBytes(pid) : 0)));
}
