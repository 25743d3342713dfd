import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Row } from '../row.ts';
import type { Embedded } from '../world/embedded.ts';
import type { Nodes } from '../world/nodes.ts';

/** Rows that run on a database whose disk can be filled. */
export const fullDatabaseRows: readonly Row<Nodes>[] = [
  {
    name: 'disk-full-mongo',
    title: "no byte left on the database's disk for 8 s",
    times: 2,
    quick: 0,
    async fault({ world, rest, back }) {
      const { smallDatabase } = world;
      if (!smallDatabase) throw new Error('This row needs the database with the small disk.');
      await smallDatabase.fill();
      await rest(8_000);
      await smallDatabase.free();
      await back();
    },
  },
];

/** Rows that run on the embedded form. The folder of the platform's files is on a separate small disk, which can be filled. */
export const fullFolderRows: readonly Row<Embedded>[] = [
  {
    name: 'embedded-disk-full',
    title: 'embedded: no byte left on the disk for 8 s',
    times: 2,
    quick: 0,
    async fault({ world, rest, back }) {
      const file = join(world.folder, '..', 'full');
      await fill(file);
      await rest(8_000);
      await rm(file);
      await back();
    },
  },
];

async function fill(file: string): Promise<void> {
  const chunk = Buffer.alloc(64 * 1024);
  const stream = createWriteStream(file);
  const full = once(stream, 'error');
  const end = new AbortController();
  void full.then(() => end.abort());
  while (!end.signal.aborted) {
    if (!stream.write(chunk)) await Promise.race([once(stream, 'drain').catch(() => undefined), full]);
  }
}
