import type { Row } from '../row.ts';
import type { Nodes } from '../world/nodes.ts';

export const versionRows: readonly Row<Nodes>[] = [
  {
    name: 'versions',
    title:
      "the previous version on one node, then on both, then this version again, on the same engines' data",
    times: 1,
    quick: 0,
    servesAll: true,
    async fault({ world, rest, before }) {
      const tree = await before();
      for (const version of [tree, undefined]) {
        for (const node of world.nodes) {
          for (const one of Object.values(node.replicas)) {
            one.runFrom(version);
            await one.restart();
            while (!(await one.isReady())) await rest(100);
          }
          await rest(4_000);
        }
      }
    },
  },
];
