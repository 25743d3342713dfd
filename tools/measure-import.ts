// Measures `kith import` on both forms of the platform, and prints the table of docs/import.md. Run this by hand: `node
// tools/measure-import.ts [rows]`, with the engines' addresses in the environment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableEngines, type EngineKind, startPlatform } from '@kith/testing';
import { lastLine } from './measure/last-line.ts';
import { writeRows } from './measure/rows.ts';

const count = Number(process.argv[2] ?? 50_000);
const folder = await mkdtemp(join(tmpdir(), 'kith-measure-'));

try {
  const words = await writeRows(folder, count);
  for (const engine of availableEngines()) await measure(engine, words);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure(engine: EngineKind, words: readonly string[]): Promise<void> {
  await using platform = await startPlatform({ engine, env: { LOG_LEVEL: 'warn' } });
  const { id } = await platform.createProject();
  const child = spawn(
    process.execPath,
    ['apps/kith/src/cli/main.ts', 'import', '--project', id, '--restart', '--json', ...words],
    {
      env: { ...process.env, KITH_URL: platform.url, OPERATOR_TOKEN: platform.operatorToken },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  for (const { kind, imported, rejected, seconds } of JSON.parse(lastLine(text)).files) {
    const rate = Math.round((imported + rejected) / seconds);
    console.log(`${engine} ${kind}: ${imported} imported, ${rejected} rejected, ${rate} rows a second`);
  }
}
