// Starts no platform and at most 1 process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openMongo } from '@kith/store/testing';
import { availableEngines, createStore, layLine, waitFor } from '@kith/testing';
import { describe, expect, test } from 'vitest';

const schema = { version: 1, collections: {} };

/** Opens a database over a connection that can be cut. */
async function openFar(undo: AsyncDisposableStack, times?: Parameters<typeof openMongo>[0]['times']) {
  const { config } = undo.use(await createStore('containers'));
  if (config.kind !== 'mongo') throw new Error('a MongoDB is needed');
  const seen = { reads: 0, connections: 0 };
  const tap = () => {
    seen.connections++;
    return (from: 'client' | 'server', chunk: Buffer) => {
      if (from === 'client' && chunk.includes('things')) seen.reads++;
    };
  };
  const line = undo.use(await layLine(new URL(config.url), tap));
  const { db, check, close } = await openMongo({
    url: `mongodb://${line.address}`,
    database: config.database,
    schema,
    ...(times && { times }),
  });
  undo.defer(() => {
    line.mend();
    return close();
  });
  const read = () => db.collection('things').findOne({});
  return { line, db, check, read, seen };
}

describe.runIf(availableEngines().includes('containers'))('a database', () => {
  test('a database that closes its connections during reads is used again immediately', async () => {
    await using undo = new AsyncDisposableStack();
    const { line, db, read, seen } = await openFar(undo);
    let lookedAt = performance.now();
    db.client.on('serverHeartbeatSucceeded', () => {
      lookedAt = performance.now();
    });
    for (let round = 0; round < 2; round++) {
      await Promise.all([read(), read(), read()]);
      // The driver checks a server at most twice a second. After this wait, the first failed read makes the driver check
      // immediately.
      await waitFor(() => performance.now() - lookedAt > 600);
      line.hush();
      const before = seen.reads;
      const reads = [read(), read(), read()];
      await waitFor(() => seen.reads === before + 3);
      line.cut();
      line.mend();
      await Promise.allSettled(reads);
      expect(await read()).toBeNull();
    }
  });

  test('waiting commands and the check fail if the database accepts connections but never answers', async () => {
    await using undo = new AsyncDisposableStack();
    const { line, db, check, read } = await openFar(undo, { answerMs: 1_000 });
    line.hush();
    const marking = db.collection('other').updateMany({}, { $set: { published: true } });
    await expect(marking).rejects.toThrow('timed out');
    await expect(check()).rejects.toThrow();
    line.mend();
    await waitFor(() => check().then(() => true));
    expect(await read()).toBeNull();
  });

  test('a database that has not answered for long gets new connections, and already open objects use them', async () => {
    await using undo = new AsyncDisposableStack();
    const { line, db, check, read } = await openFar(undo, { renewAfterMs: 50 });
    let opened = 0;
    db.client.on('topologyOpening', () => opened++);
    line.cut();
    await waitFor(async () => {
      await expect(check()).rejects.toThrow();
      return opened > 0;
    });
    line.mend();
    await waitFor(() => check().then(() => true));
    expect(await read()).toBeNull();
  });
});

test('a process whose store stays unavailable ends in order, so that it can be restarted', async () => {
  const path = fileURLToPath(new URL('lifecycle-support/loses-store.ts', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(out).toContain('The store has been away for');
  expect(out).toContain('store closed');
});
