// Measures `kith backup` and `kith restore` on both forms of the platform, and prints the table of docs/backup.md. Run this by
// hand on Linux: `node tools/measure-backup.ts [rows …]`, with the engines' addresses in the environment. For each given
// number, the script first imports that many rows of each kind.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableEngines, type EngineKind, startPlatform } from '@kith/testing';
import { writeRows } from './measure/rows.ts';
import { type Ran, runKith } from './measure/run-kith.ts';

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [25_000, 250_000];

for (const engine of availableEngines()) {
  for (const count of counts) {
    const folder = await mkdtemp(join(tmpdir(), 'kith-measure-'));
    try {
      await measure(engine, { folder, count });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function measure(
  engine: EngineKind,
  { folder, count }: { folder: string; count: number },
): Promise<void> {
  const secret = 'the secret of an installation that is measured';
  await using platform = await startPlatform({ engine, env: { LOG_LEVEL: 'warn', KITH_SECRET: secret } });
  const words = await writeRows(folder, count);
  await runKith(['import', '--project', (await platform.createProject()).id, '--restart', ...words], {
    KITH_URL: platform.url,
    OPERATOR_TOKEN: platform.operatorToken,
  });
  const { engines, prefix, dataFolder } = platform;
  /** Restored databases have the same prefix as the original databases, so all of them are erased together. */
  const place = (name: string) =>
    engines
      ? { MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, KITH_PREFIX: `${prefix}${name}` }
      : { KITH_DATA: name ? join(folder, name) : dataFolder };
  const backup = join(folder, 'backup');
  const made = await runKith<Counted>(['backup', backup], { ...place(''), KITH_SECRET: secret });
  tell(engine, 'backup', made);
  const restored = await runKith<Counted>(['restore', backup], {
    ...place('_restored'),
    KITH_SECRET: secret,
  });
  tell(engine, 'restore', restored);
}

interface Counted {
  counts: { documents: number }[];
}

function tell(engine: EngineKind, what: string, { value, seconds, peakMiB }: Ran<Counted>): void {
  const documents = value.counts.reduce((sum, one) => sum + one.documents, 0);
  console.log(
    `${engine} ${what}: ${documents} documents, ${seconds.toFixed(1)} s, ${peakMiB.toFixed(0)} MiB`,
  );
}
