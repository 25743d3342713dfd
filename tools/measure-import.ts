// Measures `kith import` on both forms of the platform, and prints the table of docs/import.md. Run this by hand: `node
// tools/measure-import.ts [rows]`, with the engines' addresses in the environment.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableEngines, type EngineKind, startPlatform } from '@kith/testing';
import { writeRows } from './measure/rows.ts';
import { runKith } from './measure/run-kith.ts';

const count = Number(process.argv[2] ?? 50_000);
const folder = await mkdtemp(join(tmpdir(), 'kith-measure-'));

try {
  const words = await writeRows(folder, count);
  for (const engine of availableEngines()) await measure(engine, words);
} finally {
  await rm(folder, { recursive: true, force: true });
}

interface Imported {
  files: { kind: string; imported: number; rejected: number; seconds: number }[];
}

async function measure(engine: EngineKind, words: readonly string[]): Promise<void> {
  await using platform = await startPlatform({ engine, env: { LOG_LEVEL: 'warn' } });
  const { id } = await platform.createProject();
  const { value } = await runKith<Imported>(['import', '--project', id, '--restart', ...words], {
    KITH_URL: platform.url,
    OPERATOR_TOKEN: platform.operatorToken,
  });
  for (const { kind, imported, rejected, seconds } of value.files) {
    const rate = Math.round((imported + rejected) / seconds);
    console.log(`${engine} ${kind}: ${imported} imported, ${rejected} rejected, ${rate} rows a second`);
  }
}
