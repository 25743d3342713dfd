// Starts no platform and no process.
import { copyFile, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { noteRestored } from '@kith/store/open';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { files, makeFolders, startOn } from './support/folder-platform.ts';

describe('the files of an installation', () => {
  const undo = new AsyncDisposableStack();
  let folders: Awaited<ReturnType<typeof makeFolders>>;
  let own: string;
  let foreign: string;
  beforeAll(async () => {
    folders = undo.use(await makeFolders());
    [own, foreign] = [await folders.make(), await folders.make()];
    for (const folder of [own, foreign]) await (await startOn(folder)).stop();
  });
  afterAll(() => undo.disposeAsync());

  const copy = () => folders.mix(own, own, []);
  const starts = async (folder: string) => (await startOn(folder)).stop();
  const unstamp = (folder: string, file: string) => {
    using db = new DatabaseSync(join(folder, file));
    db.exec('DROP TABLE installation');
  };

  const wrongs: Record<string, (path: string, file: string, folder: string) => Promise<unknown>> = {
    'is missing': (path) => rm(path),
    'is empty': (path) => truncate(path),
    'is damaged': async (path) => truncate(path, Math.floor((await readFile(path)).length / 2)),
    'is damaged (file is not a database)': (path) => writeFile(path, 'something else'),
    'belongs to another installation': (path, file) => copyFile(join(foreign, file), path),
    'does not belong to this installation': async (_path, file, folder) => unstamp(folder, file),
    'holds the data of': async (path, file, folder) => {
      const other = join(folder, files.find((one) => one !== file)!);
      await rename(path, `${path}.kept`);
      await rename(other, path);
      await rename(`${path}.kept`, other);
    },
  };
  it.each(files.flatMap((file) => Object.entries(wrongs).map(([wrong, make]) => ({ file, wrong, make }))))(
    'a start is refused with the name of the wrong file, and changes no file: $file $wrong',
    async ({ file, wrong, make }) => {
      const folder = await copy();
      await make(join(folder, file), file, folder);
      const refused = startOn(folder);
      await expect(refused).rejects.toThrow(`in the data folder ${folder} ${wrong}`);
      await expect(refused).rejects.toThrow(/^[a-z]+\.sqlite .* Restore it from a backup/);
      if (wrong !== 'holds the data of') await expect(refused).rejects.toThrow(file);
      // The second start is refused, too. After the right files are put back, a start succeeds.
      await expect(startOn(folder)).rejects.toThrow(wrong);
      for (const one of files) await copyFile(join(own, one), join(folder, one));
      await starts(folder);
    },
  );

  it('a file that cannot be opened is not called damaged', async () => {
    const folder = await copy();
    await rm(join(folder, 'identity.sqlite'));
    await mkdir(join(folder, 'identity.sqlite'));
    await expect(startOn(folder)).rejects.toThrow(
      /^identity\.sqlite .* cannot be opened \(unable to open database file\)\. Check its owner/,
    );
  });

  it('an old event is deleted, even if a consumer that no longer belongs to a service has not received it', async () => {
    const folder = await copy();
    using log = new DatabaseSync(join(folder, 'events.sqlite'), { timeout: 5_000 });
    const old = () => log.prepare("SELECT 1 FROM events WHERE id = 'old'").get();
    log
      .prepare("INSERT INTO events (id, subject, body, at) VALUES ('old', 'kith.event.p.thing.made', '', ?)")
      .run(Date.now() - 8 * 24 * 3600 * 1000);
    log.exec('UPDATE consumers SET position = (SELECT max(position) FROM events)');
    log.exec("INSERT INTO consumers (durable, position) VALUES ('statistics-retired', 0)");
    expect(old()).toBeDefined();
    await starts(folder);
    expect(old()).toBeUndefined();
  });

  it('files of earlier versions, without stamps, are accepted once, even if a process died while it stamped them', async () => {
    const folder = await copy();
    for (const file of files) unstamp(folder, file);
    {
      using db = new DatabaseSync(join(folder, files[0]!));
      db.exec('CREATE TABLE installation (id TEXT NOT NULL, file TEXT NOT NULL, files TEXT NOT NULL)');
      db.prepare('INSERT INTO installation VALUES (?, ?, ?)').run('an-id', files[0]!, '[]');
    }
    await starts(folder);
    await starts(folder);
    await rm(join(folder, files[1]!));
    await expect(startOn(folder)).rejects.toThrow(`${files[1]} in the data folder ${folder} is missing`);
  });

  it('a file from an older backup, which has no stamp, is accepted after `kith restored`', async () => {
    const folder = await copy();
    const file = 'connections.sqlite';
    unstamp(folder, file);
    await noteRestored({ kind: 'sqlite', file: join(folder, file) });
    await starts(folder);
    // The platform has started with this file once. Since then the file belongs to this installation, so it may not be empty
    // any more.
    await truncate(join(folder, file));
    await expect(startOn(folder)).rejects.toThrow(`${file} in the data folder ${folder} is empty`);
  });
});
