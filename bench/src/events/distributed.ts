import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createLogger } from '@kith/base';
import { NatsBus } from '@kith/bus/nats';
import { eraseEngines } from '@kith/testing';
import { type Running, startScript } from '../processes.ts';
import { type FormFigures, type FormParts, measureForm } from './measure.ts';

const run = promisify(execFile);

/** Measures the distributed form on NATS and MongoDB. One process stores and relays events, and another process consumes them. */
export async function measureDistributed(
  options: Pick<FormParts, 'sizes' | 'progress'> & { natsUrl: string; mongodbUrl: string; folder: string },
): Promise<FormFigures> {
  const { natsUrl, mongodbUrl, folder, sizes, progress } = options;
  const prefix = `benchevents${process.pid}`;
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    NATS_URL: natsUrl,
    MONGODB_URL: mongodbUrl,
    KITH_PREFIX: prefix,
    MOST: String(sizes.burst + sizes.each),
  };
  const log = createLogger({ name: 'bench', level: 'warn' });
  const bus = await NatsBus.connect({ url: natsUrl, name: 'bench', prefix, log });
  const askConsumer = async (subject: string) => {
    const reply = await bus.request(
      `${prefix}.bench.${subject}`,
      { headers: {}, body: new Uint8Array() },
      30_000,
    );
    return JSON.parse(new TextDecoder().decode(reply.body));
  };
  let consumer: Running | undefined;
  try {
    return await measureForm({
      sizes,
      progress,
      async produce(phase, { from, count }) {
        const more = { PHASE: phase, FROM: String(from), COUNT: String(count) };
        const { stdout } = await run(process.execPath, [beside('produce-main.ts')], {
          env: { ...env, ...more },
        });
        return Number(stdout.trim().split('\n').at(-1));
      },
      async startConsumer() {
        consumer = await startScript(beside('consume-main.ts'), { env, log: join(folder, 'events.log') });
        return {
          ...{ pid: consumer.pid, bus },
          count: () => askConsumer('count'),
          take: () => askConsumer('take'),
        };
      },
    });
  } finally {
    await consumer?.stop();
    await bus.close();
    await eraseEngines(options, prefix);
  }
}

function beside(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
