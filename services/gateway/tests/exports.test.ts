import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { exportPageItems, exportUser } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { expectError, projectId, statusesIn, userId } from './harness.ts';
import { behindAnother } from './support/behind-another.ts';
import {
  contentDisposition,
  ExportWorld,
  head,
  largePage,
  path,
  type SectionName,
  sessionItem,
} from './support/export-world.ts';

const names = Object.keys(exportUser.parts.sections) as SectionName[];
const none = Object.fromEntries(names.map((name) => [name, []]));
/** No test waits this long for anything. */
const hourMs = 3_600_000;
const never = hourMs;

describe.each(handlerEngines())('exports (%s)', (engine) => {
  it('sends the head, and then every section, page by page', async () => {
    await using world = await ExportWorld.start(engine);
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    const pages: Record<string, string[]> = { '': [a], 'behind a': [], 'behind none': [b, c] };
    const next: Record<string, string> = { '': 'behind a', 'behind a': 'behind none' };
    await world.give('sessions', ({ after }) => ({
      items: (pages[after ?? ''] ?? []).map((id) => sessionItem(id)),
      next: next[after ?? ''] ?? null,
    }));
    const download = await (await world.open()).read();
    expect([download.status, download.isWhole]).toEqual([200, true]);
    expect(download.headers).toMatchObject({
      'content-type': 'application/json',
      'content-disposition': contentDisposition,
      'cache-control': 'no-store',
      connection: 'close',
      'x-request-id': expect.any(String),
    });
    const document = JSON.parse(download.text);
    expect(document).toEqual({ ...head, ...none, sessions: [a, b, c].map((id) => sessionItem(id)) });
    expect(Object.keys(document)).toEqual([...Object.keys(head), ...names]);
    expect(exportUser.output.safeParse(document).success).toBe(true);
    const sessions = world.asked.filter(({ name }) => name === 'sessions').map(({ range }) => range);
    expect(sessions).toEqual(
      [null, 'behind a', 'behind none'].map((after) => ({
        projectId,
        userId,
        after,
        limit: exportPageItems,
      })),
    );
    expect(world.asked).toHaveLength(names.length + 2);
  });

  it('begins when the earlier answers on the connection have ended', async () => {
    await using world = await ExportWorld.start(engine);
    const { socket, release } = await behindAnother(world.test, { path, token: await world.issuer.token() });
    expect(world.asked).toEqual([]);
    release();
    expect(statusesIn(await text(socket))).toEqual([200, 200]);
    expect(world.asked).toHaveLength(names.length);
  });

  it('sends no field that the contract does not have', async () => {
    await using world = await ExportWorld.start(engine);
    const item = { ...sessionItem(randomUUID()), tokenHash: 'secret' };
    await world.give('sessions', () => ({ items: [item], next: null }));
    const { text, isWhole } = await (await world.open()).read();
    expect([isWhole, text.includes('secret'), text.includes(item.id)]).toEqual([true, false, true]);
  });

  it.each(names)('answers 503 before any byte while no service serves %s', async (name) => {
    await using world = await ExportWorld.start(engine);
    await world.takeAway(name);
    const answer = await (await world.open()).read();
    expectError(answer, 'gateway/unavailable');
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.headers['content-disposition']).toBeUndefined();
  });

  it('answers 504 before any byte while a section is silent, and 500 while it fails', async () => {
    await using world = await ExportWorld.start(engine, { env: { REQUEST_TIMEOUT_MS: '2000' } });
    await world.give('blocks', () => 'silence');
    expectError(await (await world.open()).read(), 'gateway/timeout');
    // The sections get the usual time, because on a busy machine they may take longer than 2 s.
    await using patient = await ExportWorld.start(engine);
    await patient.give('blocks', () => 'failure');
    expectError(await (await patient.open()).read(), 'connection/server-error');
  });

  it('answers HEAD without the body, and reads only the first page of each section', async () => {
    await using world = await ExportWorld.start(engine);
    await world.give('sessions', largePage);
    const answer = await (await world.open({ method: 'HEAD' })).read();
    expect([answer.status, answer.text, answer.headers['content-disposition']]).toEqual([
      200,
      '',
      contentDisposition,
    ]);
    expect(world.asked.map(({ range }) => range.after)).toEqual(names.map(() => null));
    await world.takeAway('notifications');
    expect((await world.open({ method: 'HEAD' })).status).toBe(503);
  });

  it('asks again for a page that failed, and goes on', async () => {
    await using world = await ExportWorld.start(engine, { exportTimes: { retry: [1, 1, 1] } });
    const [a, b] = [randomUUID(), randomUUID()];
    let failures = 3;
    await world.give('sessions', ({ after }) => {
      if (after === null) return { items: [sessionItem(a)], next: 'a' };
      return failures-- > 0 ? 'failure' : { items: [sessionItem(b)], next: null };
    });
    const download = await (await world.open()).read();
    expect(download.isWhole).toBe(true);
    expect(JSON.parse(download.text).sessions).toEqual([sessionItem(a), sessionItem(b)]);
  });

  it.each([
    ['fails', (world: ExportWorld) => world.give('notifications', () => 'failure')],
    ['is gone', (world: ExportWorld) => world.takeAway('notifications')],
  ] as const)('closes the connection if a later page still %s after retries', async (_, lose) => {
    await using world = await ExportWorld.start(engine, { exportTimes: { retry: [1, 1] } });
    let isLost: Promise<void> | undefined;
    await world.give('notifications', () => ({ items: [], next: 'more' }));
    // The second page of a section is requested only after the first pages of all sections have arrived. So the export gets the
    // first page of the notifications, and only later pages are missing.
    await world.give('sessions', async ({ after }) => {
      if (after === null) return { items: [sessionItem(randomUUID())], next: 'more' };
      isLost ??= lose(world);
      await isLost;
      return { items: [], next: null };
    });
    const download = await (await world.open()).read();
    expect([download.status, download.isWhole]).toEqual([200, false]);
    expect(download.text).toMatch(/^\{"exportedAt".*"notifications":\[$/s);
    expect(() => JSON.parse(download.text)).toThrow();
  });

  it('closes the connection if the token has expired meanwhile', async () => {
    let later = 0;
    await using world = await ExportWorld.start(engine, { now: () => Date.now() + later });
    let asked = 0;
    await world.give('sessions', async () => {
      asked++;
      if (asked > 1) later = hourMs;
      return { items: [], next: String(asked) };
    });
    const download = await (await world.open()).read();
    expect([download.status, download.isWhole, asked]).toEqual([200, false, 2]);
  });

  it('reads pages as fast as the client reads, and none after the client has gone', async () => {
    await using world = await ExportWorld.start(engine, { exportTimes: { unread: never } });
    let pages = 0;
    await world.give('sessions', () => {
      pages++;
      return largePage();
    });
    using download = await world.open();
    // Once the buffers of the connection are full, the export asks for no more pages, no matter how many other requests come.
    // An export that did not wait for its client would never stop asking for pages.
    const rounds = 30;
    const isStill = async () => {
      const before = pages;
      for (let round = 0; round < rounds; round++) await world.open({ method: 'HEAD' });
      return pages === before + rounds;
    };
    await waitFor(isStill, { timeoutMs: 45_000, what: 'the export to wait for its client' });
    expect(await world.brokenOff()).toBe(0);
    download[Symbol.dispose]();
    await waitFor(async () => (await world.brokenOff()) === 1, { what: 'the end of the export' });
    expect(await isStill()).toBe(true);
  });

  it('closes the connection of a client that does not read', async () => {
    await using world = await ExportWorld.start(engine, {
      env: { REQUEST_TIMEOUT_MS: '2000' },
      exportTimes: { unread: 300, retry: [] },
    });
    await world.give('sessions', largePage);
    using download = await world.open();
    await waitFor(async () => (await world.brokenOff()) === 1, { what: 'the end of the connection' });
    expect((await download.read()).isWhole).toBe(false);
  });

  it('does not keep the gateway from stopping in time', async () => {
    await using world = await ExportWorld.start(engine, { timeouts: { drain: 300 } });
    await world.give('sessions', ({ after }) =>
      after === null ? { items: [], next: 'more' } : new Promise(() => undefined),
    );
    const download = await world.open();
    const reading = download.read();
    await waitFor(() => world.asked.some(({ range }) => range.after === 'more'));
    await world.test.gateway.stop();
    await reading;
    expect(download.isWhole).toBe(false);
  });
});
