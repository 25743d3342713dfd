// Starts no platform and at most 8 processes.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { caller, openDataFolder, startDistributed, storingNames } from '@kith/platform';
import { fingerprint, moveData, Source, Target } from '@kith/platform/testing';
import { openBlobs } from '@kith/store/blobs';
import {
  availableEngines,
  compileCache,
  type Engines,
  eraseEngines,
  startEngines,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kith, longResult, runKith } from './support/command.ts';
import { kithWordsIn } from './support/kith-words.ts';
import {
  goesOn,
  makeBusy,
  makeSmall,
  movedSecret,
  movedSettings,
  moveProgress,
  readAll,
  startInFolder,
  type World,
} from './support/moved-installation.ts';
import { oneTimeSecret } from './support/one-time-secret.ts';
import { addUnreadDeletion } from './support/unread-event.ts';

interface Moved {
  counts: { service: string; collection: string; documents: number }[];
}

describe.runIf(availableEngines().includes('containers'))('kith move', () => {
  const prefix = uniquePrefix();
  let folder: string;
  let engines: Engines;
  const envOf = (own: string) => ({
    MONGODB_URL: engines.mongodbUrl,
    KITH_PREFIX: own,
    KITH_SECRET: movedSecret,
  });
  const env = () => envOf(prefix);
  // The returned name begins with `prefix`, so `eraseEngines` erases these databases, too.
  const partOf = (name: string) => `${prefix}_${name}`;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-move-'));
    engines = await startEngines();
  });
  afterAll(async () => {
    await eraseEngines(engines, prefix);
    await engines[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** Moves the data in this process. The move fails at the first line that begins with `step`. Returns all lines up to this line. */
  const diesAfter = async (data: string, own: string, step: string): Promise<string[]> => {
    const lines: string[] = [];
    await using target = await Target.open({ url: engines.mongodbUrl, prefix: own });
    const folder = openDataFolder(data);
    try {
      const dead = moveData({ folder, source: new Source(folder), target, prefix: own }, (line) => {
        lines.push(line);
        if (line.startsWith(step)) throw new Error('killed');
      });
      await expect(dead).rejects.toThrow('killed');
    } finally {
      folder.release();
    }
    return lines;
  };
  const done = [0, expect.stringMatching(moveProgress)];

  it('continues after it was killed, and the distributed form then answers as the embedded form did', async () => {
    const data = join(folder, 'data');
    let world: World;
    let before: unknown;
    {
      await using platform = await startInFolder(data, prefix);
      const call = caller(platform.url);
      world = await makeBusy(call);
      before = await readAll(call, world);
      const refused = await runKith(['move', '--from', data], env());
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/^kith: Another Kith process uses the data folder /);
    }
    // This is the command from the guide. The test kills it when only some of the tables are copied.
    const guide = await readFile(new URL('../docs/move.md', import.meta.url), 'utf8');
    const [words = []] = kithWordsIn({ text: guide });
    expect(words).toEqual(['move', '--from', '.kith']);
    const line = guide.split('\n').find((one) => one.includes('npx kith move --from .kith')) ?? '';
    const named = [...line.matchAll(/([A-Z_]+?)(?:_FILE)?=/g)].map(([, name]) => name);
    expect(named.sort()).toEqual(Object.keys(env()).sort());
    // The platform got its secret from the environment, so the secret is not in the data folder, and the move needs
    // KITH_SECRET.
    const sealed = await runKith(['move', '--from', data], { ...env(), KITH_SECRET: undefined });
    expect([sealed.code, sealed.stderr]).toEqual([1, expect.stringContaining('KITH_SECRET: the data in')]);
    const killed = await kith([...words.slice(0, 2), data], env(), 'identity.users: ');
    expect(killed.code).toBe(null);
    expect(killed.stderr).toMatch(/^waiting for pending work …\n/);
    expect(killed.stderr).toContain(`\nidentity.users: ${world.users.length + 1} rows\n`);
    const again = await runKith(['move', '--from', data, '--json'], env());
    expect([again.code, again.stderr]).toEqual([0, '']);
    const { counts, progress } = longResult<Moved>(again);
    expect(progress).toMatch(moveProgress);
    expect(progress).toMatch(/^resuming the move …\n/);
    expect(progress).not.toContain('identity.users');
    expect(progress).toContain('notifications.');
    const of = (service: string, collection: string) =>
      counts.find((one) => one.service === service && one.collection === collection)?.documents;
    // The suspended user is stored, too, but is not in `world.users`. So there is one stored user more than in `world.users`.
    // For the user who has left, only a mark in `deletedUsers` is stored.
    expect(of('identity', 'users')).toBe(world.users.length + 1);
    expect(of('identity', 'deletedUsers')).toBe(1);
    expect(of('identity', 'keys')).toBe(1);

    await using platform = await startDistributed({
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: compileCache(),
        ...movedSettings('', prefix),
        MONGODB_URL: engines.mongodbUrl,
        NATS_URL: engines.natsUrl,
        REDIS_URL: engines.redisUrl,
      },
      logFolder: join(folder, 'logs'),
    });
    const call = caller(platform.url);
    expect(await readAll(call, world)).toEqual(before);
    await goesOn(call, world);

    const twice = await runKith(['move', '--from', data], env());
    expect(twice.code).toBe(1);
    expect(twice.stderr).toMatch(/was moved to \S+_identity already/);
  }, 120_000);

  it('events that no service has received before the move are applied after the move, even under another prefix', async () => {
    const data = join(folder, 'unread');
    const own = partOf('u');
    await addUnreadDeletion(data, await makeSmall(data));
    const moved = await runKith(['move', '--from', data], envOf(own));
    expect([moved.code, moved.stderr]).toEqual(done);
    await using client = new MongoClient(engines.mongodbUrl);
    expect(await client.db(`${own}_notifications`).collection('endedUsers').countDocuments()).toBe(1);
  }, 60_000);

  it('copies data again if the data has changed between two runs', async () => {
    const data = join(folder, 'changed');
    const own = partOf('c');
    const user = await makeSmall(data, { name: 'Before' });
    const database = `${own}_storage`;
    const bucket = await openBlobs({ kind: 'gridfs', url: engines.mongodbUrl, database });
    await using closing = new AsyncDisposableStack();
    closing.defer(() => bucket.close());
    expect(await diesAfter(data, own, 'identity.users: ')).toContain('identity.users: 1 rows');
    {
      await using platform = await startInFolder(data);
      await caller(platform.url)('PATCH', `/v7/${user.projectId}/users/${user.id}`, {
        token: user.accessToken,
        body: { name: 'After' },
      });
    }
    // Adds a file to the new storage. It stands for a file that the first run copied and that was removed from the installation
    // later.
    const bytes = async function* () {
      yield Buffer.from('bytes of a removed file');
    };
    await bucket.put(`${user.projectId}/${user.id}/removed/original.bytes`, bytes());
    const again = await runKith(['move', '--from', data], envOf(own));
    for await (const { key } of bucket.list()) expect(key).not.toContain('/removed/');
    expect([again.code, again.stderr]).toEqual(done);
    expect(again.stderr).toMatch(/^waiting for pending work …\n(.+\n)*identity\.users: 1 rows\n/);
    await using client = new MongoClient(engines.mongodbUrl);
    const stored = await client.db(`${own}_identity`).collection('users').find().toArray();
    expect(stored.map(({ d }) => JSON.parse(d).name)).toEqual(['After']);
  }, 60_000);

  it('if a move dies at any step after counts and checksums matched, the next run completes the move', async () => {
    const data = join(folder, 'handed');
    const own = partOf('h');
    await makeSmall(data);
    await diesAfter(data, own, 'counts and checksums match');
    // Each try dies one step later than the previous try, and repeats all earlier steps.
    const steps = [
      ...['events', ...storingNames].map((name) => `${name}.sqlite: marked as moved`),
      ...storingNames.map((name) => `${own}_${name}: marked as complete`),
    ];
    for (const [index, step] of steps.entries()) {
      expect(await diesAfter(data, own, step)).toEqual(steps.slice(0, index + 1));
      await expect(startInFolder(data)).rejects.toThrow('was moved to the distributed form');
    }
    await diesAfter(data, own, 'the data is moved');
    const again = await runKith(['move', '--from', data], envOf(own));
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining(`moved to ${own}_identity already`),
    ]);
    // Writes back an earlier state of the move, as if the last state was lost. The next run of the command still reports what
    // the move has done.
    const state = JSON.parse(await readFile(join(data, 'move.json'), 'utf8'));
    await writeFile(join(data, 'move.json'), JSON.stringify({ ...state, isFinished: false }));
    const ended = await runKith(['move', '--from', data, '--json'], envOf(own));
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const { counts, progress } = longResult<Moved>(ended);
    expect(progress).toMatch(moveProgress);
    expect(progress).not.toContain('rows');
    expect(counts).toContainEqual({
      service: 'identity',
      collection: 'users',
      documents: 1,
    });
    // After a move is complete, the command refuses databases that this move has not filled.
    const elsewhere = await runKith(['move', '--from', data], envOf(`${own}x`));
    expect(elsewhere.stderr).toContain(`The data was moved to the prefix ${own}.`);
    await eraseEngines(engines, own);
    const gone = await runKith(['move', '--from', data], envOf(own));
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringContaining('is not the one that the data was copied to'),
    ]);
  }, 120_000);

  it('leaves a folder on which no embedded platform starts, not even a platform of an earlier version', async () => {
    const data = join(folder, 'left');
    await (await startInFolder(data)).stop();
    const secret = await oneTimeSecret(join(folder, 'print-secret'));
    const moved = await runKith(['move', '--from', data], { ...envOf(partOf('l')), ...secret });
    expect([moved.code, moved.stderr]).toEqual(done);
    const refused = `The data in ${data} was moved to the distributed form`;
    await expect(startInFolder(data)).rejects.toThrow(refused);
    const letters = await runKith(['dead-letters', 'list', 'any'], { KITH_DATA: data });
    expect([letters.code, letters.stderr]).toEqual([1, expect.stringContaining(refused)]);
    // Earlier versions do not know the mark of a moved file. But they refuse a schema version above their own, so the move also
    // sets a very high schema version.
    for (const name of ['events', 'identity', 'connections', 'collections', 'notifications']) {
      using db = new DatabaseSync(join(data, `${name}.sqlite`), { readOnly: true });
      expect(db.prepare('PRAGMA user_version').get()?.user_version, name).toBeGreaterThan(1_000_000);
    }
  }, 60_000);

  it('copies all data again if another version has begun the move', async () => {
    const data = join(folder, 'version');
    const own = partOf('v');
    await makeSmall(data);
    await diesAfter(data, own, 'identity.users: ');
    const file = join(data, 'move.json');
    const state = JSON.parse(await readFile(file, 'utf8'));
    // Makes the file look as an earlier version would have left it, with an older schema.
    {
      using db = new DatabaseSync(join(data, 'events.sqlite'));
      db.exec(
        'DROP TABLE log; DROP INDEX dead_letters_id; ALTER TABLE events DROP COLUMN traceparent; ALTER TABLE consumers DROP COLUMN noted; PRAGMA user_version = 2',
      );
    }
    const kept = openDataFolder(data);
    kept.write('move.json', JSON.stringify({ ...state, version: '0.0.1', files: fingerprint(kept) }));
    kept.release();
    const again = await runKith(['move', '--from', data], envOf(own));
    expect([again.code, again.stderr]).toEqual(done);
    expect(again.stderr).toContain('\nidentity.users: 1 rows\n');
    using db = new DatabaseSync(join(data, 'events.sqlite'), { readOnly: true });
    expect(db.prepare('SELECT traceparent FROM events LIMIT 1').get()).toBeDefined();
  }, 60_000);

  it('refuses to move a consumer that no longer belongs to a service, and leaves it out if it is named by --without', async () => {
    const data = join(folder, 'retired');
    const own = partOf('r');
    await makeSmall(data);
    {
      using log = new DatabaseSync(join(data, 'events.sqlite'));
      log.prepare('INSERT INTO consumers (durable, position) VALUES (?, 0)').run('statistics-retired');
    }
    const refused = await runKith(['move', '--from', data], envOf(own));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('The consumer statistics-retired has not received all events'),
    ]);
    const without = (name: string) => runKith(['move', '--from', data, '--without', name], envOf(own));
    const served = await without('identity-users');
    expect([served.code, served.stderr]).toEqual([
      1,
      expect.stringContaining('Consumers without a service: statistics-retired.'),
    ]);
    const moved = await without('statistics-retired');
    expect([moved.code, moved.stderr]).toEqual(done);
  }, 60_000);

  it('does not wait if a consumer without a service falls behind during the move', async () => {
    const data = join(folder, 'falls-behind');
    await makeSmall(data);
    using log = new DatabaseSync(join(data, 'events.sqlite'), { timeout: 5_000 });
    log.exec(
      `INSERT INTO consumers (durable, position) SELECT 'statistics-retired', max(position) FROM events`,
    );
    // This consumer makes its next attempt in a minute. The move waits for this attempt.
    log
      .prepare(
        `INSERT INTO redeliveries (durable, position, failures, due)
           SELECT 'connections-profiles', max(position), 1, ? FROM events`,
      )
      .run(Date.now() + 60_000);
    // The service that starts last creates this consumer again.
    const last = "FROM consumers WHERE durable = 'storage-users'";
    expect(log.prepare(`DELETE ${last}`).run().changes).toBe(1);
    const moving = runKith(['move', '--from', data], envOf(partOf('f')));
    await waitFor(() => log.prepare(`SELECT 1 ${last}`).get(), { what: 'the start of the services' });
    log
      .prepare("INSERT INTO events (id, subject, body, at) VALUES ('late', 'kith.event.p.thing.made', '', ?)")
      .run(Date.now());
    const refused = await moving;
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('Use --without statistics-retired to skip it.'),
    ]);
  }, 60_000);

  it('makes the platform publish the events of dead letters again', async () => {
    const data = join(folder, 'dead');
    const own = partOf('d');
    await makeSmall(data);
    {
      using log = new DatabaseSync(join(data, 'events.sqlite'));
      const event = log.prepare('SELECT id, subject, body FROM events LIMIT 1').get();
      log
        .prepare('INSERT INTO dead_letters (durable, id, subject, body, error, at) VALUES (?, ?, ?, ?, ?, ?)')
        .run('connections-profiles', event!.id!, event!.subject!, event!.body!, 'Error', Date.now());
    }
    const moved = await runKith(['move', '--from', data], envOf(own));
    expect([moved.code, moved.stderr]).toEqual(done);
    await using client = new MongoClient(engines.mongodbUrl);
    const events = client.db(`${own}_identity`).collection('events');
    expect(await events.countDocuments({ unpublished: true })).toBe(1);
  }, 60_000);

  it('refuses databases with other data, folders without data, and unknown files and tables', async () => {
    const data = join(folder, 'refused');
    const own = partOf('f');
    await (await startInFolder(data)).stop();
    await using client = new MongoClient(engines.mongodbUrl);
    const db = client.db(`${own}_collections`);
    await db.collection('collections').insertOne({ name: 'theirs' });
    const said = async (path: string) => {
      const { code, stderr } = await runKith(['move', '--from', path], envOf(own));
      expect(code).toBe(1);
      return stderr;
    };
    expect(await said(data)).toContain(`The database ${own}_collections holds other data`);
    expect(await db.collection('collections').countDocuments()).toBe(1);
    expect(await said(join(folder, 'nothing'))).toContain('There is no embedded installation in');
    await writeFile(join(data, 'more.sqlite'), '');
    await chmod(join(data, 'more.sqlite'), 0o600);
    expect(await said(data)).toContain('more.sqlite cannot be moved by this version.');
    await rm(join(data, 'more.sqlite'));
    using events = new DatabaseSync(join(data, 'collections.sqlite'));
    events.exec('CREATE TABLE more (id TEXT PRIMARY KEY)');
    await db.dropDatabase();
    expect(await said(data)).toContain(
      'The table "more" of the database collections.sqlite cannot be moved by this version.',
    );
  }, 60_000);
});
