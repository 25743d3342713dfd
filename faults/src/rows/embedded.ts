import { copyFile, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { storingNames } from '@kith/platform';
import { waitFor } from '@kith/testing';
import type { Row } from '../row.ts';
import type { Embedded } from '../world/embedded.ts';

/** Makes a consistent copy of a database file while another process writes to the file. */
async function copyOf(file: string, to: string): Promise<void> {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    await backup(db, to);
  } finally {
    db.close();
  }
}

async function putBack(copy: string, file: string): Promise<void> {
  await rm(`${file}-wal`, { force: true });
  await rm(`${file}-shm`, { force: true });
  await copyFile(copy, file);
}

export const embeddedRows: readonly Row<Embedded>[] = [
  {
    name: 'embedded-kill',
    title: 'embedded: kill -9',
    times: 10,
    quick: 1,
    silenceMs: 6_000,
    async fault({ world, back }) {
      await world.kill();
      await back();
    },
  },
  {
    name: 'embedded-restart',
    title: 'embedded: SIGTERM and start',
    times: 3,
    quick: 0,
    silenceMs: 6_000,
    async fault({ world, back }) {
      await world.restart();
      await back();
    },
  },
  {
    name: 'embedded-log-older',
    title: 'embedded: power lost, after which the log of events is 10 s older than the other files',
    times: 3,
    quick: 1,
    async fault({ world, rest, back }) {
      const file = join(world.folder, 'events.sqlite');
      const copy = `${file}.copy`;
      await copyOf(file, copy);
      await rest(10_000);
      await world.killFor(() => putBack(copy, file));
      world.log.forgetPlace();
      await rm(copy);
      await back();
    },
  },
  {
    name: 'embedded-files-refused',
    title:
      'embedded: each file truncated, then missing; the start fails and names the file, and succeeds when the file is back',
    times: 1,
    quick: 0,
    async fault({ world }) {
      const names = [...storingNames, 'events'];
      for (const name of names) {
        const file = join(world.folder, `${name}.sqlite`);
        for (const damage of ['truncated', 'missing'] as const) {
          const kept = `${file}.kept`;
          const said = (await world.said()).length;
          await world.killFor(async () => {
            // The process has ended. Its last changes may be in the write-ahead log, and not yet in the database file. So they
            // are moved into this file before it is copied.
            const db = new DatabaseSync(file);
            db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
            db.close();
            await copyFile(file, kept);
            if (damage === 'missing') await rm(file);
            else await truncateHalf(file);
          });
          const refused = async () => (await world.said()).slice(said).includes(`${name}.sqlite`);
          await waitFor(refused, {
            timeoutMs: 20_000,
            what: `${name}.sqlite, ${damage}, to be refused by name`,
          });
          await world.killFor(() => putBack(kept, file));
          await rm(kept);
          await world.allReady(60_000);
        }
      }
    },
  },
];

async function truncateHalf(file: string): Promise<void> {
  await truncate(file, Math.floor((await stat(file)).size / 2));
}
