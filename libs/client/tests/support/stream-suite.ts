import { type TestPlatform, waitFor } from '@kith/testing';
import { describe, it } from 'vitest';
import {
  createClient,
  type KithClient,
  KithError,
  KithNetworkError,
  type NotificationEvent,
  type StreamStatus,
} from '../../src/index.ts';
import type { Person } from './control.ts';
import { type ClientWorld, reach } from './world.ts';

/** A stream to which the test listens in the background. */
class Listening {
  readonly told: string[] = [];
  readonly statuses: StreamStatus[] = [];
  readonly ended: Promise<unknown>;
  readonly #controller = new AbortController();

  hasEnded = false;

  constructor(
    world: ClientWorld,
    person: Person,
    { kith, ...options }: { silenceMs?: number; kith?: KithClient } = {},
  ) {
    const { url, projectId } = world;
    kith ??= createClient({ url, projectId, session: person.session, retries: 0 });
    const events = kith.notifications.stream({
      ...options,
      signal: this.#controller.signal,
      onStatus: (status) => this.statuses.push(status),
    });
    this.ended = this.#listen(events)
      .catch((error: unknown) => error)
      .finally(() => {
        this.hasEnded = true;
      });
  }

  get opened(): number {
    return this.statuses.filter(({ state }) => state === 'open').length;
  }

  async leave(): Promise<void> {
    this.#controller.abort();
    await this.ended;
  }

  async #listen(events: AsyncIterable<NotificationEvent>): Promise<void> {
    for await (const event of events) this.told.push(event.type === 'notification' ? event.id : event.type);
  }
}

/** Tests the streams of a platform. All tests run at the same time, each through its own proxy. */
export function testStreams(platform: () => TestPlatform): void {
  describe.concurrent('streams', () => {
    it('reconnect after a silence', async ({ expect }) => {
      await using world = await reach(platform());
      const ada = await world.control.person();
      await world.control.fault({ match: 'stream', times: 1, how: 'silence' });
      const listening = new Listening(world, ada, { silenceMs: 1_500 });
      await waitFor(() => listening.opened > 0, { what: 'a stream that is not silent' });
      const waited = listening.statuses.find(({ state }) => state === 'waiting');
      expect(waited?.error).toBeInstanceOf(KithNetworkError);
      expect(waited?.error).toMatchObject({ isTimeout: true });
      await world.control.request(await world.control.person(), ada);
      await waitFor(() => listening.told.length > 0, { what: 'the notification' });
      await listening.leave();
      expect(listening.told).toEqual(['1']);
    });

    it('report that newer streams have evicted them', async ({ expect }) => {
      await using world = await reach(platform());
      const ada = await world.control.person();
      const all = [];
      for (let count = 1; count <= 6; count++) {
        const listening = new Listening(world, ada);
        all.push(listening);
        await waitFor(() => listening.opened === 1, { what: `stream ${count}` });
      }
      await world.control.request(await world.control.person(), ada);
      const [first, ...others] = all;
      await waitFor(() => first?.told.length && others.every(({ told }) => told.length > 0), {
        what: 'all events',
      });
      await Promise.all(all.map((listening) => listening.leave()));
      expect(all.map(({ told }) => told)).toEqual([['evicted'], ...Array(5).fill(['1'])]);
    });

    it('end with the error of the session when the session ends', async ({ expect }) => {
      await using world = await reach(platform());
      const ada = await world.control.person();
      const listening = new Listening(world, ada);
      await waitFor(() => listening.opened === 1, { what: 'the stream' });
      await world.control.suspend(ada);
      const error = await listening.ended;
      expect(error).toBeInstanceOf(KithError);
      expect(error).toMatchObject({ status: 403, code: 'auth/suspended' });
    });

    it('reconnect after answers that are not from the platform', async ({ expect }) => {
      await using world = await reach(platform());
      const ada = await world.control.person();
      const headers = { 'content-type': 'text/html' };
      // These are like the answers of a proxy that asks for a password, of a balancer that has no server, and of a captive
      // portal.
      for (const status of [401, 404, 200]) {
        const how = { status, headers, body: '<h1>Hello</h1>' };
        await world.control.fault({ match: 'stream', times: 1, how });
      }
      const listening = new Listening(world, ada);
      await Promise.race([
        waitFor(() => listening.opened > 0, { what: 'the stream' }),
        listening.ended.then((error) => Promise.reject(error)),
      ]);
      const errors = listening.statuses.flatMap(({ error }) => (error === undefined ? [] : [error]));
      expect(errors).toMatchObject(
        [401, 404, 200].map((status) => ({ status, code: 'client/unexpected-answer' })),
      );
      await listening.leave();
    });

    it.for([
      ['somebody else is signed in', 'after a connection', true, []],
      ['somebody else is signed in', 'after an attempt that failed', true, [503]],
      ['nobody is signed in', 'after a connection', false, []],
    ] as const)('end when %s, %s', async ([, , isOther, failures], { expect }) => {
      await using world = await reach(platform());
      const [ada, grace] = [await world.control.person(), await world.control.person()];
      const { url, projectId } = world;
      const kith = createClient({ url, projectId, session: ada.session, retries: 0 });
      const listening = new Listening(world, ada, { kith });
      await waitFor(() => listening.opened === 1, { what: 'the stream' });
      await world.control.request(grace, ada);
      await waitFor(() => listening.told.length === 1, { what: 'the notification' });
      for (const status of failures) {
        await world.control.fault({ match: 'stream', times: 1_000, how: { status, body: '' } });
        await world.control.cut();
        const isRefused = () => listening.statuses.some(({ error }) => error instanceof KithError);
        await waitFor(isRefused, { what: 'the failed attempt' });
      }
      await kith.setSession(isOther ? grace.session : null);
      await world.control.seen();
      await world.control.cut();
      // Waits for the end of the stream. If the stream wrongly does not end, it opens a second connection.
      await waitFor(() => listening.opened > 1 || listening.hasEnded, { what: 'the end of the stream' });
      await listening.leave();
      expect(await listening.ended).toMatchObject({ status: 401, code: 'auth/unauthorized' });
      const tokens = (await world.control.seen()).map(({ token }) => token);
      expect(tokens).not.toContain(grace.session.accessToken);
    });

    it('are refused if nobody is signed in', async ({ expect }) => {
      await using world = await reach(platform());
      const { url, projectId } = world;
      const events = createClient({ url, projectId }).notifications.stream();
      await expect(events.next()).rejects.toMatchObject({ code: 'auth/unauthorized' });
    });

    it('wait as long as Retry-After asks before they reconnect', async ({ expect }) => {
      await using world = await reach(platform());
      const ada = await world.control.person();
      const body = JSON.stringify({ error: 'Too many.', code: 'rate-limit/exceeded' });
      await world.control.fault({
        match: 'stream',
        times: 1,
        how: { status: 429, headers: { 'retry-after': '2' }, body },
      });
      await world.control.seen();
      const listening = new Listening(world, ada);
      await waitFor(() => listening.opened === 1, { what: 'the stream' });
      await listening.leave();
      const [refused, opened] = (await world.control.seen()).filter(({ line }) => line.includes('stream'));
      expect((opened?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    });
  });
}
