// Measures `kith backup` and `kith restore` on both forms of the platform: how long they take, and how much memory they use at
// most. Run this by hand: `node tools/measure-backup.ts [rows]`. It first imports users, connections, collections and saved
// entities, `rows` of each kind. The database then holds somewhat more documents than imported rows.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableEngines, type EngineKind, eraseEngines, startPlatform } from '@kith/testing';
import { lastLine } from './measure/last-line.ts';
import { writeRows } from './measure/rows.ts';

const count = Number(process.argv[2] ?? 250_000);
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
  const access = { KITH_URL: platform.url, OPERATOR_TOKEN: platform.operatorToken };
  await kith(['import', '--project', id, '--restart', ...words], access);
  const { engines } = platform;
  const of = (prefix: string, data: string): NodeJS.ProcessEnv => ({
    ...{ MONGODB_URL: engines?.mongodbUrl, NATS_URL: engines?.natsUrl, KITH_PREFIX: prefix },
    ...{ KITH_DATA: engines ? undefined : data, KITH_SECRET: platform.secret },
  });
  const backup = join(folder, `${engine}-backup`);
  const made = await kith(['backup', backup, '--json'], of(platform.prefix, platform.dataFolder));
  tell(engine, 'backup', made);
  tell(
    engine,
    'anonymous',
    await kith(['backup', `${backup}-2`, '--json', '--anonymise'], of(platform.prefix, platform.dataFolder)),
  );
  const [prefix, data] = [`${platform.prefix}_restored`, join(folder, `${engine}-restored`)];
  tell(engine, 'restore', await kith(['restore', backup, '--json'], of(prefix, data)));
  if (engines) await eraseEngines(engines, prefix);
}

interface Run {
  text: string;
  seconds: number;
  /** The maximum memory that the process used. */
  mib: number;
}

function tell(engine: EngineKind, what: string, { text, seconds, mib }: Run): void {
  const { counts } = JSON.parse(lastLine(text)) as { counts: { documents: number }[] };
  const documents = counts.reduce((sum, one) => sum + one.documents, 0);
  console.log(
    `${engine} ${what}: ${documents} documents in ${seconds.toFixed(1)} s, at most ${Math.round(mib)} MiB`,
  );
}

/** Runs a command to its end. */
async function kith(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Run> {
  const begun = performance.now();
  const child = spawn(process.execPath, ['apps/kith/src/cli/main.ts', ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  let mib = 0;
  const watch = setInterval(() => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    mib = Math.max(mib, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  }, 200);
  const [code] = await once(child, 'close');
  clearInterval(watch);
  if (code !== 0) throw new Error(`kith ${words[0]} ended with ${code}.`);
  return { text, seconds: (performance.now() - begun) / 1_000, mib };
}
