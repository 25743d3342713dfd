// Measures `kith import` on both forms of the platform and prints the table of docs/import.md. To be run by hand:
// `node scripts/measure-import.ts [rows]`, with the engines' addresses in the environment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableEngines, type EngineKind, startPlatform } from '@kith/testing';

const count = Number(process.argv[2] ?? 50_000);
const folder = await mkdtemp(join(tmpdir(), 'kith-measure-'));
const hash = `$2b$10$${'a'.repeat(53)}`;
const at = (row: number) => new Date(1_600_000_000_000 + row * 1000).toISOString();

/** Ten connections and a collection of ten entities for every tenth user. */
const files: Record<string, (row: number) => object> = {
  users: (row) => ({
    foreignId: `user-${row}`,
    email: `user-${row}@example.com`,
    username: `user.${row}`,
    name: `User number ${row}`,
    bio: 'Reads books, walks dogs.',
    metadata: { plan: 'free' },
    passwordHash: hash,
    createdAt: at(row),
  }),
  connections: (row) => ({
    requesterForeignId: `user-${row % count}`,
    receiverForeignId: `user-${(row + 1 + Math.floor(row / 10) * 7 + (row % 10)) % count}`,
    message: 'Hello, shall we connect?',
    requestedAt: at(row),
    connectedAt: at(row + 60),
  }),
  collections: (row) => ({
    userForeignId: `user-${Math.floor(row / 10)}`,
    id: `collection-${row}`,
    ...(row % 10 === 0 ? {} : { parentId: `collection-${row - (row % 10)}` }),
    name: `Books ${row}`,
    createdAt: at(row),
  }),
  entities: (row) => ({
    userForeignId: `user-${Math.floor(row / 100)}`,
    collectionId: `collection-${Math.floor(row / 10)}`,
    entityId: `book-${row}`,
    addedAt: at(row),
    metadata: { page: row },
  }),
};

try {
  for (const [name, make] of Object.entries(files)) {
    const out = createWriteStream(join(folder, `${name}.jsonl`));
    for (let row = 0; row < count; row++) {
      if (!out.write(`${JSON.stringify(make(row))}\n`)) await once(out, 'drain');
    }
    out.end();
    await once(out, 'finish');
  }
  for (const engine of availableEngines()) await measure(engine);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure(engine: EngineKind): Promise<void> {
  await using platform = await startPlatform({ engine, env: { LOG_LEVEL: 'warn' } });
  const { id } = await platform.createProject();
  const words = Object.keys(files).flatMap((name) => [`--${name}`, join(folder, `${name}.jsonl`)]);
  const child = spawn(
    process.execPath,
    ['libs/cli/src/main.ts', 'import', '--project', id, '--restart', '--json', ...words],
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
  for (const { kind, imported, rejected, seconds } of JSON.parse(text)) {
    const rate = Math.round((imported + rejected) / seconds);
    console.log(`${engine} ${kind}: ${imported} imported, ${rejected} rejected, ${rate} rows a second`);
  }
}
