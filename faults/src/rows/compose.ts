import type { Row } from '../row.ts';
import type { Compose } from '../world/compose.ts';

export const composeRows: readonly Row<Compose>[] = [
  {
    name: 'compose-restart-mongo-50',
    title:
      'docker-compose: the database restarted 50 times; all processes healthy within 10 s of the last restart',
    times: 1,
    quick: 0,
    async fault({ world, rest }) {
      for (let time = 0; time < 50; time++) {
        await world.restart('mongo');
        await rest(1_000);
      }
      await world.allReady(10_000);
      await rest(2_000);
    },
  },
];
