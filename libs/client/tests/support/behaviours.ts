import {
  createClient,
  type KithClient,
  localStorageSession,
  memorySession,
  type Session,
  type SessionListener,
  type UploadProgress,
} from '../../src/index.ts';
import { createServerClient } from '../../src/server.ts';
import type { Person, World } from './control.ts';
import { settled } from './settled.ts';

// Behaviours that run both in Node and in a page. Each returns its outcome as JSON.

export type Behaviour = (world: World) => Promise<unknown>;

function clientOf(
  { url, projectId }: World,
  options: Partial<Parameters<typeof createClient>[0]> = {},
): KithClient {
  return createClient({ url, projectId, ...options });
}

/** A session whose access token the platform refuses. */
const withBadToken = ({ session }: Person): Session => ({
  ...session,
  accessToken: `${session.accessToken.slice(0, -8)}AAAAAAAA`,
});

export const behaviours = {
  async signsUpAndCalls(world) {
    const changes: string[] = [];
    const kith = clientOf(world, { onSession: (_, { reason }) => changes.push(reason) });
    const email = `u${crypto.randomUUID()}@example.com`;
    const { user } = await kith.auth.signUp({ email, password: 'correct horse', name: 'Ada' });
    const root = await kith.collections.getRoot();
    const books = await kith.collections.createSubCollection({
      collectionId: root.id,
      collectionName: 'Books',
    });
    const renamed = await kith.collections.rename({ collectionId: books.id, name: 'Livres – 本' });
    await kith.collections.addEntity({ collectionId: books.id, entityId: 'a/b?c', metadata: { page: 3 } });
    const saved = await kith.collections.isEntitySaved({ entityId: 'a/b?c' });
    await kith.collections.removeEntity({ collectionId: books.id, entityId: 'a/b?c' });
    const after = await kith.collections.isEntitySaved({ entityId: 'a/b?c' });
    const unread = await kith.notifications.count();
    const found = await kith.users.get({ userId: user.id });
    const exported = await kith.users.export({ userId: user.id });
    const gone = await kith.collections.delete({ collectionId: books.id });
    const sessions = await kith.auth.listSessions({ limit: 1 });
    await kith.auth.signOut();
    const signedOut = await settled(kith.connections.count());
    return {
      names: [user.name, found.name, renamed.name, saved.collections.map(({ name }) => name).join()],
      saved: [saved.saved, after.saved],
      unread,
      exported: [exported.user.email === email, exported.collections.map(({ name }) => name).toSorted()],
      gone: gone === undefined,
      sessions: [sessions.total, sessions.items.length, sessions.items[0]?.current, sessions.cursor ?? null],
      session: kith.session,
      changes,
      signedOut,
    };
  },

  async signsOutEvenIfTheStoreFails(world) {
    const { session } = await world.control.person();
    const sent: (boolean | undefined)[] = [];
    const kith = clientOf(world, {
      session: { get: () => session, set: () => Promise.reject(new Error('The store is away.')) },
      fetch(address, init) {
        sent.push(init.keepalive);
        return fetch(address, init);
      },
    });
    const signedOut = await settled(kith.auth.signOut());
    // A session listener may leave the page. So the request must have `keepalive`, because the browser then sends it even if
    // the page is left.
    return {
      signedOut,
      sent,
      session: kith.session,
      later: await settled(clientOf(world, { session }).auth.refresh()),
    };
  },

  async refreshesOnceForRefusedTokens(world) {
    const kith = clientOf(world, { session: withBadToken(await world.control.person()) });
    await world.control.seen();
    const counts = await Promise.all(Array.from({ length: 50 }, () => kith.connections.count()));
    return { counts: counts.map(({ count }) => count), ...(await refreshesSeen(world)) };
  },

  async refreshesOnceBeforeExpiry(world) {
    const { session } = await world.control.person();
    const kith = clientOf(world, { session: { ...session, expiresAt: Date.now() + 5_000 } });
    await world.control.seen();
    const counts = await Promise.all(Array.from({ length: 50 }, () => kith.connections.count()));
    return { counts: counts.map(({ count }) => count), ...(await refreshesSeen(world)) };
  },

  async refreshesOnceInTwoTabs(world) {
    const person = await world.control.person();
    const key = `two-tabs-${person.session.user.id}`;
    // Without localStorage, the three clients share one store object.
    const shared = { ...memorySession(), name: key };
    const storeOf = () => ('localStorage' in globalThis ? localStorageSession(key) : shared);
    storeOf().set(withBadToken(person));
    const tabs = [1, 2, 3].map(() => clientOf(world, { session: storeOf() }));
    await world.control.seen();
    const counts = await Promise.all(tabs.map((tab) => tab.connections.count()));
    const tokens = new Set(tabs.map((tab) => tab.session?.refreshToken));
    return { counts: counts.map(({ count }) => count), tokens: tokens.size, ...(await refreshesSeen(world)) };
  },

  async refreshesThroughALostAnswer(world) {
    const kith = clientOf(world, { session: withBadToken(await world.control.person()) });
    await world.control.seen();
    await world.control.fault({ match: 'POST', times: 1, how: 'lose-answer' });
    const { count } = await kith.connections.count();
    return { count, refreshes: (await refreshesSeen(world)).refreshes, isSignedIn: kith.session !== null };
  },

  async endsWhereATokenWasUsedTwice(world) {
    const person = await world.control.person();
    const ends: unknown[] = [];
    const kith = clientOf(world, {
      session: person.session,
      onSession: (session, { reason, error }) => ends.push([session, reason, error?.code]),
    });
    const thief = clientOf(world, { session: person.session });
    await thief.auth.refresh();
    await thief.auth.refresh();
    const refused = await settled(kith.auth.refresh());
    const later = await settled(kith.connections.count());
    return { refused, later, ends };
  },

  async endsWithoutARefreshToken(world) {
    const { session } = await world.control.person();
    const ends: unknown[] = [];
    const kith = clientOf(world, {
      session: { ...session, refreshToken: '' },
      onSession: (now, { reason, error }) => ends.push([now, reason, error?.code]),
    });
    const refused = await settled(kith.auth.refresh());
    const later = await settled(kith.connections.count());
    return { refused, later, ends };
  },

  async endsForTheSuspended(world) {
    const person = await world.control.person();
    const ends: unknown[] = [];
    const kith = clientOf(world, {
      session: person.session,
      onSession: (session, { reason, error }) => ends.push([session, reason, error?.code]),
    });
    await kith.connections.count();
    await world.control.suspend(person);
    for (;;) {
      const outcome = await settled(kith.connections.count());
      if (ends.length > 0) return { outcome, ends };
    }
  },

  async retriesWhatIsSafe(world) {
    const kith = clientOf(world, { session: (await world.control.person()).session });
    await world.control.seen();
    await world.control.fault({ match: 'GET', times: 2, how: 'lose' });
    const { count } = await kith.connections.count();
    const reads = (await world.control.seen()).length;
    const { id: collectionId } = await kith.collections.getRoot();
    await world.control.seen();
    await world.control.fault({ match: 'POST', times: 1, how: 'lose-answer' });
    const { name } = await kith.collections.createSubCollection({ collectionId, collectionName: 'Once' });
    const writes = (await world.control.seen()).length;
    const { items } = await kith.collections.listSubCollections({ collectionId });
    // Signing in has no `Idempotency-Key`, so the client does not send this request again.
    await world.control.seen();
    await world.control.fault({ match: 'POST', times: 1, how: 'lose-answer' });
    const lost = await settled(kith.auth.signIn({ email: 'nobody@example.org', password: 'correct horse' }));
    const signIns = (await world.control.seen()).length;
    // The platform ignores the `Idempotency-Key` of a visitor. So the client does not repeat this request for the first caller,
    // who is a visitor. It repeats the request for the second caller, who is signed in.
    const verifies = [];
    for (const caller of [clientOf(world), kith]) {
      await world.control.seen();
      await world.control.fault({ match: 'POST', times: 1, how: 'lose-answer' });
      const outcome = await settled(caller.auth.verifyEmail({ token: 'made up' }));
      verifies.push([outcome, (await world.control.seen()).length]);
    }
    const created = { name, writes, there: items.length };
    const busy = { status: 503, body: JSON.stringify({ error: 'Away.', code: 'gateway/unavailable' }) };
    await world.control.fault({
      match: 'PATCH',
      times: 2,
      how: { ...busy, headers: { 'retry-after': '0' } },
    });
    const unavailable = await settled(kith.notifications.markAllAsRead());
    const late = { status: 504, body: JSON.stringify({ error: 'Late.', code: 'gateway/timeout' }) };
    await world.control.fault({ match: 'PATCH', times: 1, how: late });
    const timedOut = await settled(kith.notifications.markAllAsRead());
    const sent = (await world.control.seen()).length;
    return { count, reads, created, lost, signIns, verifies, unavailable, timedOut, sent };
  },

  async deletesThroughALostAnswer(world) {
    const outcomes = [];
    for (const isSignedOut of [false, true]) {
      const { session, email, password } = await world.control.person();
      const changes: unknown[] = [];
      const onSession: SessionListener = (now, { reason, error }) =>
        changes.push([now, reason, error?.code ?? null]);
      const kith = clientOf(world, { session, onSession });
      if (isSignedOut) await clientOf(world, { session }).auth.signOut();
      else await world.control.fault({ match: 'DELETE', times: 1, how: 'lose-answer' });
      const deleted = await settled(kith.users.delete({ userId: session.user.id }));
      const signedIn = await settled(kith.auth.signIn({ email, password }).then(({ user }) => user.name));
      outcomes.push({ deleted, changes, signedIn });
    }
    return outcomes;
  },

  async keepsToItsUser(world) {
    const [ada, grace, mary] = [
      await world.control.person('Ada'),
      await world.control.person('Grace'),
      await world.control.person('Mary'),
    ];
    const calls: ((kith: KithClient) => Promise<unknown>)[] = [
      (kith) => kith.connections.request({ userId: mary.session.user.id }),
      (kith) => kith.storage.createFile({ file: someBytes(10) }),
    ];
    const refusal = (status: number, code: string) => ({
      status,
      headers: { 'retry-after': '0' },
      body: JSON.stringify({ error: 'No.', code }),
    });
    const outcomes = [];
    for (const call of calls) {
      for (const next of [grace.session, null]) {
        for (const how of [refusal(429, 'rate-limit/exceeded'), refusal(401, 'auth/unauthorized')]) {
          const kith: KithClient = clientOf(world, {
            session: ada.session,
            // The session changes after the platform has answered the first attempt, but before the client gets the answer.
            // From then on, somebody else is signed in, or nobody.
            async fetch(address, init) {
              const answer = await fetch(address, init);
              await kith.setSession(next);
              return answer;
            },
          });
          await world.control.seen();
          await world.control.fault({ match: 'POST', times: 1, how });
          outcomes.push([await settled(call(kith)), (await world.control.seen()).length]);
        }
      }
    }
    // The client cannot read a user's id from the token `unknown`. The platform refuses the token, and the call must work with
    // another token.
    const kith = clientOf(world, { session: { ...ada.session, accessToken: 'unknown' } });
    return { outcomes, count: (await kith.connections.count()).count };
  },

  async waitsForAWriteThatIsRunning(world) {
    const kith = clientOf(world, { session: (await world.control.person()).session });
    const { id: collectionId } = await kith.collections.getRoot();
    const body = JSON.stringify({ error: 'Still running.', code: 'request/in-progress' });
    // The client makes at most three retries. The four attempts that get this answer do not count as retries.
    await world.control.fault({ match: 'POST', times: 4, how: { status: 409, body } });
    const { name } = await kith.collections.createSubCollection({ collectionId, collectionName: 'Late' });
    return { name };
  },

  async honoursRetryAfter(world) {
    const kith = clientOf(world);
    await world.control.seen();
    // The fourth call is over the limit, unless the time window of the limit ends during the calls. In that case, a later call
    // is over the limit.
    for (;;) {
      await kith.users.checkUsername({ username: 'ada.l' });
      const [refused, repeated] = await world.control.seen();
      if (refused && repeated) return { waited: repeated.at - refused.at };
    }
  },

  async doesNotWaitForTooLong(world) {
    const kith = clientOf(world);
    const body = JSON.stringify({ error: 'Too many.', code: 'rate-limit/exceeded' });
    const how = { status: 429, headers: { 'retry-after': '300' }, body };
    await world.control.fault({ match: 'check-username', times: 1, how });
    return settled(kith.users.checkUsername({ username: 'ada.l' }));
  },

  async waitsForAPlatformThatIsAway(world) {
    const kith = clientOf(world, { session: (await world.control.person()).session, retries: 10 });
    // The time is taken before the call, because a busy page gets the answer of `control` late.
    const started = Date.now();
    await world.control.downFor(1_500);
    const { count } = await kith.connections.count();
    return { count, waited: Date.now() - started };
  },

  async endsByTimeAndBySignal(world) {
    const { session } = await world.control.person();
    const kith = clientOf(world, { session, retries: 0 });
    await world.control.fault({ match: 'GET', times: 2, how: 'hold' });
    const timedOut = await settled(kith.connections.count({ timeoutMs: 200 }));
    const controller = new AbortController();
    const call = settled(kith.connections.count({ signal: controller.signal }));
    setTimeout(() => controller.abort(new Error('left the page')), 100);
    return {
      timedOut,
      aborted: await call,
      before: await settled(kith.users.get({ userId: 'x' }, controller)),
    };
  },

  async refusesWhatIsNoAddress(world) {
    const { session } = await world.control.person();
    const kith = clientOf(world, { session });
    const { id } = await kith.collections.getRoot();
    await world.control.seen();
    const outcomes = [];
    for (const entityId of ['..', '.', '']) {
      outcomes.push(await settled(kith.collections.removeEntity({ collectionId: id, entityId })));
    }
    return { outcomes, sent: (await world.control.seen()).length };
  },

  async refusesWhatNoHeaderCarries(world) {
    const { session } = await world.control.person();
    const { id: userId } = session.user;
    const kith = clientOf(world, { session });
    const server = (serverKey: string) => createServerClient({ ...world, serverKey });
    await world.control.seen();
    const outcomes = [];
    for (const idempotencyKey of ['clé…', 'a\nb', 'a\u0001b']) {
      outcomes.push(await settled(kith.users.update({ userId, bio: 'x' }, { idempotencyKey })));
    }
    outcomes.push(await settled(server('kith_sk_…').users.get({ userId })));
    outcomes.push(
      await settled((async () => server('kith_sk_x').onBehalfOf('a\nb').users.get({ userId }))()),
    );
    outcomes.push(await settled((async () => kith.notifications.stream({ lastEventId: '…' }).next())()));
    const sent = (await world.control.seen()).length;
    // A key that was read from a file often ends with a line break. The client removes it.
    const trimmed = await settled(server('kith_sk_x\n').users.update({ userId, role: 'x' }));
    return { outcomes, sent, trimmed, token: (await world.control.seen()).at(-1)?.token };
  },

  async tellsWhatIsNotTheApi(world) {
    const kith = clientOf(world, { retries: 0 });
    const outcomes = [];
    for (const status of [200, 404, 502]) {
      const how = { status, headers: { 'content-type': 'text/html' }, body: '<h1>Hotel</h1>' };
      await world.control.fault({ match: 'GET', times: 1, how });
      outcomes.push(await settled(kith.users.checkUsername({ username: 'ada.l' })));
    }
    await world.control.fault({ match: 'sign-in', times: 1, how: { status: 200, body: '{}' } });
    outcomes.push(await settled(kith.auth.signIn({ email: 'ada@example.org', password: 'correct horse' })));
    return { outcomes, session: kith.session };
  },

  async takesNoOtherAnswerForAnEnd(world) {
    const { session } = await world.control.person();
    const userId = session.user.id;
    const kith = clientOf(world, { session: { ...session, expiresAt: Date.now() - 1 }, retries: 0 });
    const outcomes = [];
    for (const [status, body] of [
      [200, '<h1>Hotel</h1>'],
      [401, '<h1>Hotel</h1>'],
      [200, '{}'],
      [200, 'null'],
      [200, '{"accessToken":"x"}'],
    ] as const) {
      const how = { status, headers: { 'content-type': 'text/html' }, body };
      await world.control.fault({ match: 'request-new-access-token', times: 1, how });
      await world.control.seen();
      outcomes.push([await settled(kith.users.get({ userId })), (await world.control.seen()).length]);
    }
    return { outcomes, later: (await kith.users.get({ userId })).id === userId && kith.session !== null };
  },

  async walksEveryKindOfList(world) {
    const [ada, grace, mary] = [
      await world.control.person('Ada'),
      await world.control.person('Grace'),
      await world.control.person('Mary'),
    ];
    await world.control.connect(ada, grace);
    await world.control.connect(mary, ada);
    const kith = clientOf(world, { session: ada.session });
    for (const name of ['Kim', 'Lin', 'Mo']) {
      const other = await world.control.person(name);
      await kith.connections.request({ userId: other.session.user.id });
    }
    const { id: collectionId } = await kith.collections.getRoot();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await kith.collections.createSubCollection({ collectionId, collectionName: name });
      await kith.collections.addEntity({ collectionId, entityId: name });
    }
    const all = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
      const items: T[] = [];
      for await (const item of list) items.push(item);
      return items;
    };
    const page = await kith.connections.list({ limit: 1 });
    const next = await kith.connections.list({ limit: 1, cursor: page.cursor });
    const pages = await all(kith.collections.listEntities({ collectionId, limit: 2 }).pages());
    return {
      connections: (await all(kith.connections.list({ limit: 1 }))).map((one) => one.connectedUser.name),
      requests: (await all(kith.connections.listSent({ limit: 2 }))).map(({ user }) => user.name),
      children: (await all(kith.collections.listSubCollections({ collectionId, limit: 2 }))).map(
        ({ name }) => name,
      ),
      ascending: (await all(kith.collections.listEntities({ collectionId, limit: 2, sortDir: 'asc' }))).map(
        ({ id }) => id,
      ),
      pages: pages.map(({ items, total, cursor }) => [items.length, total, cursor !== undefined]),
      byHand: [page.total, page.items.length, next.items.length, next.cursor === undefined],
      unknown: await settled(kith.collections.listSubCollections({ collectionId: crypto.randomUUID() })),
    };
  },

  async uploadsAndTellsHowFarItIs(world) {
    const { session } = await world.control.person();
    const kith = clientOf(world, { session });
    const bytes = someBytes(3 * mebibyte);
    const stream = () => new Blob([bytes]).stream() as ReadableStream<Uint8Array>;
    const uploads = [];
    for (const file of [bytes, new File([bytes], 'Zo\u00eb "1".bin'), stream()]) {
      const told: UploadProgress[] = [];
      const onProgress = (progress: UploadProgress) => told.push(progress);
      const { fileId, originalSize, name } = await kith.storage.createFile({ file }, { onProgress });
      const back = new Uint8Array(await (await kith.storage.getFile({ fileId })).arrayBuffer());
      const isSame = back.length === bytes.length && back.every((byte, index) => byte === bytes[index]);
      const grows = told.every(({ loaded }, index) => loaded >= (told[index - 1]?.loaded ?? 0));
      uploads.push({ originalSize, name, isSame, grows, last: told.at(-1)?.loaded });
    }
    const image = await kith.storage.createImage({
      file: await (await fetch(smallPng)).blob(),
      name: 'square.png',
      sizes: { small: 8, 'smaller-still': 4 },
      quality: 70,
    });
    const { fileId } = image;
    const small = await kith.storage.getFileVariant({ fileId, variant: 'small' });
    const address = kith.storage.urlOf(image.variants.small?.publicPath ?? '');
    let own = 0;
    const ownFetch = (address: string, init: RequestInit) => {
      own++;
      return fetch(address, init);
    };
    const other = clientOf(world, { session, fetch: ownFetch });
    const byOwnFetch = await other.storage.createFile({ file: bytes, name: 'own.bin' });
    return {
      uploads,
      image: [image.originalWidth, image.quality, Object.keys(image.variants)],
      small: [small.headers.get('content-type'), (await small.blob()).size === image.variants.small?.size],
      address: [(await fetch(address)).status, kith.storage.urlOf('https://example.org/a')],
      byOwnFetch: [byOwnFetch.originalSize, byOwnFetch.name, own],
    };
  },

  async uploadsWithAnotherToken(world) {
    const kith = clientOf(world, { session: withBadToken(await world.control.person()) });
    await world.control.seen();
    const { originalSize } = await kith.storage.createFile({ file: someBytes(mebibyte) });
    const lines = (await world.control.seen()).map(({ line }) => line.split('/').at(-1));
    return { originalSize, lines };
  },

  async uploadsOnce(world) {
    const kith = clientOf(world, { session: (await world.control.person()).session });
    const file = someBytes(1000);
    const answer = (status: number, code: string) => ({
      status,
      headers: { 'retry-after': '0' },
      body: JSON.stringify({ error: 'Not now.', code }),
    });
    const outcomes = [];
    for (const how of [
      'lose-answer',
      answer(503, 'gateway/unavailable'),
      answer(504, 'gateway/timeout'),
      answer(429, 'rate-limit/exceeded'),
    ] as const) {
      await world.control.seen();
      await world.control.fault({ match: 'POST', times: 1, how });
      const outcome = await settled(kith.storage.createFile({ file }).then(({ type }) => type));
      outcomes.push([outcome, (await world.control.seen()).length]);
    }
    // Two files are stored: one by the upload whose answer was lost, and one by the upload that was sent again after the 429.
    const { total } = await kith.storage.listFiles();
    return { outcomes, total };
  },

  async uploadsEndByTimeAndBySignal(world) {
    const kith = clientOf(world, { session: (await world.control.person()).session });
    const file = someBytes(8 * mebibyte);
    for (const kind of ['files', 'images']) {
      await world.control.fault({ match: `storage/${kind}`, times: 1, how: 'hold' });
    }
    // This time is long enough for the request to reach the proxy even in a busy page. So the fault hits this request, and no
    // later request.
    const timedOut = await settled(kith.storage.createFile({ file }, { timeoutMs: 2_000 }));
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = () => controller.abort(new Error('left the page'));
    const aborted = await settled(kith.storage.createImage({ file }, { signal, onProgress }));
    const before = await settled(kith.storage.createFile({ file }, { signal }));
    const { total } = await kith.storage.listFiles();
    const { fileId } = await kith.storage.createFile({ file });
    const reading = new AbortController();
    const response = await kith.storage.getFile({ fileId }, { signal: reading.signal });
    reading.abort(new Error('left the page'));
    const read = await response.arrayBuffer().then(
      () => 'all of it',
      () => 'cut off',
    );
    return { timedOut, aborted, before, total, read };
  },

  async endsUploadsWhoseSourceStalls(world) {
    const kith = clientOf(world, { session: (await world.control.person()).session });
    const cancelled: string[] = [];
    const silent = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(someBytes(1000)),
        cancel: () => void cancelled.push('cancelled'),
      });
    const timedOut = await settled(kith.storage.createFile({ file: silent() }, { timeoutMs: 400 }));
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = settled(kith.storage.createFile({ file: silent() }, { signal }));
    controller.abort(new Error('left the page'));
    const outcomes = [timedOut, await aborted];
    await until(() => cancelled.length > 0);
    return { outcomes, total: (await kith.storage.listFiles()).total };
  },

  async refusesWhatIsNoUpload(world) {
    const kith = clientOf(world, { session: (await world.control.person()).session });
    const outcomes = [];
    for (const file of ['/tmp/picture.png', undefined]) {
      await world.control.seen();
      outcomes.push(await settled(kith.storage.createFile({ file: file as unknown as Blob })));
      outcomes.push((await world.control.seen()).length);
    }
    outcomes.push(await settled(kith.storage.createImage({ file: someBytes(5000) })));
    const file = await (await fetch(smallPng)).blob();
    outcomes.push(await settled(kith.storage.createImage({ file, sizes: { Small: 8 } })));
    outcomes.push(await settled(kith.storage.createImage({ file, quality: 101 })));
    outcomes.push(await settled(kith.storage.createFile({ file: new Uint8Array(51 * mebibyte) })));
    outcomes.push(await settled(kith.storage.getFile({ fileId: crypto.randomUUID() })));
    return { outcomes, total: (await kith.storage.listFiles()).total };
  },

  async streamsThroughCuts(world) {
    const ada = await world.control.person('Ada');
    const kith = clientOf(world, { session: withBadToken(ada) });
    const controller = new AbortController();
    let opened = Promise.withResolvers<void>();
    const states: string[] = [];
    const onStatus = ({ state }: { state: string }) => {
      states.push(state);
      if (state === 'open') opened.resolve();
    };
    const told: string[] = [];
    const total = 4;
    const listening = (async () => {
      for await (const event of kith.notifications.stream({ signal: controller.signal, onStatus })) {
        if (event.type === 'notification')
          told.push(`${event.id} ${event.notification.metadata.initiatorName}`);
        if (told.length === total) return;
      }
    })();
    await opened.promise;
    for (let turn = 1; turn <= total; turn++) {
      const other = await world.control.person(`Friend ${turn}`);
      // The first notification comes while the stream is open. Each further notification comes after a cut. The last comes
      // after two cuts in a row.
      if (turn === total) {
        await until(() => told.length === turn - 1);
        // `opened` is replaced before the cut, because the stream may be open again before this page knows that the cut is
        // made.
        opened = Promise.withResolvers();
      }
      if (turn > 1) await world.control.cut();
      if (turn === total) {
        await opened.promise;
        await world.control.cut();
      }
      await world.control.request(other, ada);
    }
    await listening;
    const aborted = (async () => {
      for await (const _ of kith.notifications.stream({ signal: controller.signal }));
    })();
    controller.abort(new Error('left the page'));
    return {
      told,
      states: [...new Set(states)],
      cuts: states.includes('waiting'),
      aborted: await settled(aborted),
    };
  },

  async streamsFromWhereItWas(world) {
    const ada = await world.control.person('Ada');
    for (const name of ['One', 'Two', 'Three']) {
      const other = await world.control.person(name);
      await world.control.request(other, ada);
    }
    const kith = clientOf(world, { session: ada.session });
    const told: unknown[] = [];
    for await (const event of kith.notifications.stream({ lastEventId: '1' })) {
      told.push(
        event.type === 'notification' ? [event.id, event.notification.metadata.initiatorName] : event,
      );
      if (told.length === 2) break;
    }
    for await (const event of kith.notifications.stream({ lastEventId: '99' })) {
      told.push(event);
      break;
    }
    return told;
  },
} satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof behaviours;

const mebibyte = 1024 * 1024;
/** A red picture of 16 × 16 pixels. */
const smallPng =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4Y2xMEmIY1TCqYfhqAABHizIQlCQN8AAAAABJRU5ErkJggg==';

function someBytes(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map((_, index) => index % 251);
}

/** Waits for a condition. Pages cannot use `waitFor`, which is for Node. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function refreshesSeen({ control }: World): Promise<{ refreshes: number; calls: number }> {
  const lines = (await control.seen()).map(({ line }) => line);
  const refreshes = lines.filter((line) => line.endsWith('/request-new-access-token')).length;
  return { refreshes, calls: lines.length - refreshes };
}
