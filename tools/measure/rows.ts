import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';

const hash = `$2b$10$${'a'.repeat(53)}`;
const at = (row: number) => new Date(1_600_000_000_000 + row * 1000).toISOString();

/**
 * Makes the rows of each kind. Each user asks one other user to connect. In the first tenth of the users, each user has ten
 * collections. In the first tenth of the collections, each collection has ten entities.
 */
const kinds = (count: number): Record<string, (row: number) => object> => ({
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
});

/**
 * For each kind that can be imported, writes a file with `count` rows. Returns the words that make `kith import` read these files.
 */
export async function writeRows(folder: string, count: number): Promise<string[]> {
  const words: string[] = [];
  for (const [name, make] of Object.entries(kinds(count))) {
    const path = join(folder, `${name}.jsonl`);
    const out = createWriteStream(path);
    for (let row = 0; row < count; row++) {
      if (!out.write(`${JSON.stringify(make(row))}\n`)) await once(out, 'drain');
    }
    out.end();
    await once(out, 'finish');
    words.push(`--${name}`, path);
  }
  return words;
}
