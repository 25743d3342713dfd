import { fileURLToPath } from 'node:url';
import type { Row } from '../row.ts';
import type { Nodes } from '../world/nodes.ts';

const preload = fileURLToPath(new URL('../world/shifted-clock.mjs', import.meta.url));
const minute = 60_000;
const shifts = [6_000, 40_000, 10 * minute, 61 * minute].flatMap((ms) => [ms, -ms]);

export const clockRows: readonly Row<Nodes>[] = shifts.map((ms): Row<Nodes> => {
  const size = Math.abs(ms) < minute ? `${Math.abs(ms) / 1000}s` : `${Math.abs(ms) / minute}min`;
  const way = ms > 0 ? 'ahead' : 'behind';
  return {
    name: `clock-${size}-${way}`,
    title: `the clock of a node ${size.replace(/(\d+)/, '$1 ')} ${way} for 10 s`,
    times: 1,
    quick: 0,
    // The clocks of the two gateways differ. So one gateway may refuse a token as expired while the other accepts the same
    // token.
    bears: [401],
    async fault({ world, rest }) {
      const replicas = Object.values(world.nodes[1].replicas);
      const env = { NODE_OPTIONS: `--import=${preload}`, KITH_FAULTS_CLOCK_MS: String(ms) };
      await Promise.all(replicas.map((one) => one.restart(env)));
      await rest(10_000);
      await Promise.all(replicas.map((one) => one.restart({})));
      await rest(2_000);
    },
  };
});
