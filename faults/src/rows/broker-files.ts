import { runInContainer } from '@kith/engines';
import type { Row, Stage } from '../row.ts';
import type { Nodes } from '../world/nodes.ts';

const lose = async ({ world }: Stage<Nodes>, script: string) => {
  const { nats } = world.engines;
  await nats.kill('SIGSTOP');
  await runInContainer(nats.container, ['sh', '-c', script]);
  await nats.kill();
  await nats.start();
  world.log.forgetPlace();
};

export const brokerFileRows: readonly Row<Nodes>[] = [
  {
    name: 'broker-files-deleted',
    title: "JetStream's files deleted",
    times: 2,
    quick: 1,
    async fault(stage) {
      await lose(stage, 'rm -rf /data/*');
      await stage.rest(8_000);
    },
  },
  {
    name: 'broker-files-older',
    title: "JetStream's files replaced by a copy that is a minute old",
    times: 1,
    quick: 0,
    async fault(stage) {
      const { nats } = stage.world.engines;
      await nats.kill('SIGSTOP');
      await runInContainer(nats.container, ['sh', '-c', 'rm -rf /copy && cp -a /data /copy']);
      await nats.kill('SIGCONT');
      await stage.rest(60_000);
      await lose(stage, 'rm -rf /data/* && cp -a /copy/. /data/');
      await stage.rest(8_000);
    },
  },
];
