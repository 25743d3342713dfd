import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '@kith/base';
import {
  listenAtStart,
  type Message,
  NoResponders,
  RequestTimeout,
  shedHeader,
  streamNames,
} from '@kith/bus';
import { NatsBus } from '@kith/bus/nats';
import { availableEngines, eraseEngines, layLine, startEngines, uniquePrefix, waitFor } from '@kith/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as natsConnect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const log = createLogger({ name: 'test', level: 'silent' });
const message = { headers: {}, body: new Uint8Array() };
const bytes = (text: string) => new TextEncoder().encode(text);
/** The answer of a server that is too busy. */
const shed = { headers: { [shedHeader]: '1' }, body: new Uint8Array() };

describe.runIf(availableEngines().includes('containers'))('outages and delays of NATS', () => {
  const prefix = uniquePrefix();
  const undo = new AsyncDisposableStack();
  let url: string;
  beforeAll(async () => {
    const engines = undo.use(await startEngines());
    undo.defer(() => eraseEngines(engines, prefix));
    url = engines.natsUrl;
  });
  afterAll(() => undo.disposeAsync());

  const connect = async (at = url, startMs?: number) => {
    const bus = await NatsBus.connect({ url: at, name: 'test', prefix, log, ...(startMs && { startMs }) });
    return undo.adopt(bus, (one) => one.close());
  };
  const subject = () => `${prefix}.rpc.test.${randomUUID()}`;

  test('a hanging replica delays a repeatable request by one second, while any other request times out', async () => {
    const [asking, hanging, serving] = [await connect(), await connect(), await connect()];
    const to = subject();
    let isHanging = true;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    // The first two messages that the two servers receive get no answer until `end` resolves.
    let kept = 0;
    let waitedMs = 0;
    for (const bus of [hanging, serving]) {
      await bus.serve(to, 'group', async (asked) => {
        if (isHanging && ++kept <= 2) await end;
        waitedMs = asked.waitedMs ?? 0;
        return asked;
      });
    }
    await expect(asking.request(to, message, 1_500)).rejects.toThrow(RequestTimeout);
    expect(kept).toBe(1);
    expect((await asking.request(to, message, 30_000, { repeatable: true })).body).toHaveLength(0);
    // The repeat says how long the sender has waited, because less time is left than the request itself says.
    expect(waitedMs).toBeGreaterThanOrEqual(1_000);
    // On a busy machine, the second answer may be late, too. The request is then repeated once more.
    expect(kept).toBeGreaterThanOrEqual(3);
    isHanging = false;
    resolve();
  });

  /** Serves a subject. The first message gets an answer when `answer` is called, and the server is too busy for all others. */
  const serveOnce = async (to: string) => {
    const { promise: first, resolve: answer } = Promise.withResolvers<Message>();
    const served = { received: 0, answer };
    await (await connect()).serve(to, 'group', async () => (++served.received === 1 ? first : shed));
    return served;
  };

  test('if a server is too busy for a repeat, the request does not end while another server works on it', async () => {
    const [asking, to] = [await connect(), subject()];
    const served = await serveOnce(to);
    const request = () => asking.request(to, message, 30_000, { repeatable: true });
    const first = request();
    // By the time of the third message, the answer to the second has arrived.
    await waitFor(() => served.received > 2);
    served.answer({ headers: {}, body: bytes('done') });
    expect(new TextDecoder().decode((await first).body)).toBe('done');
    // No server works on this request, so it ends immediately.
    expect((await request()).headers).toEqual(shed.headers);
  });

  test('if nobody serves a repeat, the request does not end while a stopping server still works on it', async () => {
    let isUnserved = false;
    await using line = await layLine(new URL(url), () => (from, chunk) => {
      if (from === 'server' && chunk.includes('NATS/1.0 503')) isUnserved = true;
    });
    const [asking, serving, to] = [await connect(`nats://${line.address}`), await connect(), subject()];
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: done, resolve: answer } = Promise.withResolvers<Message>();
    const served = await serving.serve(to, 'group', async () => {
      begin();
      return done;
    });
    const request = () => asking.request(to, message, 30_000, { repeatable: true });
    const first = request();
    await begun;
    const stopped = served.drain();
    await waitFor(() => isUnserved);
    answer({ headers: {}, body: bytes('done') });
    expect(new TextDecoder().decode((await first).body)).toBe('done');
    await stopped;
    // No server works on this request, so it does not wait for its deadline.
    await expect(request()).rejects.toThrow(NoResponders);
  });

  test('if a server is too busy for a repeat, the request ends if the earlier message may be lost', async () => {
    await using line = await layLine(new URL(url));
    const [asking, to] = [await connect(`nats://${line.address}`), subject()];
    const served = await serveOnce(to);
    const under = asking.request(to, message, 60_000, { repeatable: true });
    await waitFor(() => served.received > 0);
    line.cut();
    await waitFor(() => !asking.isConnected());
    line.mend();
    expect((await under).headers).toEqual(shed.headers);
    served.answer(message);
  });

  test('without a connection, a new request fails immediately; a repeatable request that already waits is sent again after the reconnect', async () => {
    await using line = await layLine(new URL(url));
    const [asking, serving] = [await connect(`nats://${line.address}`), await connect()];
    const to = subject();
    const { promise: open, resolve } = Promise.withResolvers<void>();
    let asked = 0;
    await serving.serve(to, 'group', async () => {
      asked++;
      await open;
      return message;
    });
    const under = asking.request(to, message, 60_000, { repeatable: true });
    await waitFor(() => asked === 1);
    line.cut();
    await waitFor(() => !asking.isConnected());
    // The request must reject well before its timeout of a minute. If it did not, the test would time out.
    await expect(asking.request(to, message, 60_000)).rejects.toThrow(NoResponders);
    resolve();
    line.mend();
    expect((await under).body).toHaveLength(0);
    expect(asked).toBeGreaterThan(1);
  });

  test('listening fails without a connection, and the next connection does not have the subscription', async () => {
    const sent: string[] = [];
    await using line = await layLine(new URL(url), () => (from, chunk) => {
      if (from === 'client') sent.push(chunk.toString());
    });
    const bus = await connect(`nats://${line.address}`);
    const to = subject();
    const hasSubscribed = () => sent.join('').includes(`SUB ${to} `);
    // The server gets the subscription, but no data comes back. So the bus still waits when the connection breaks.
    line.mute();
    const refused = expect(bus.listen(to, () => undefined)).rejects.toThrow(NoResponders);
    await waitFor(hasSubscribed);
    line.cut();
    await refused;
    await waitFor(() => !bus.isConnected());
    await expect(bus.listen(to, () => undefined)).rejects.toThrow(NoResponders);
    sent.length = 0;
    line.mend();
    await waitFor(() => bus.isConnected());
    // The client renews its subscriptions before it sends anything else.
    await bus.broadcast(subject(), message.body);
    expect(hasSubscribed()).toBe(false);
  });

  test('in a process that starts, a listener waits until the connection is restored', async () => {
    await using line = await layLine(new URL(url));
    const bus = await connect(`nats://${line.address}`);
    const to = subject();
    line.cut();
    await waitFor(() => !bus.isConnected());
    const heard: string[] = [];
    const listening = listenAtStart(bus, to, ({ subject: on }) => void heard.push(on));
    line.mend();
    await listening;
    await (await connect()).broadcast(to, message.body);
    await waitFor(() => heard.length > 0);
    expect(heard).toEqual([to]);
  });

  test('a starting process serves requests and consumes events after the connection is restored', async () => {
    await using line = await layLine(new URL(url));
    const [bus, other] = [await connect(`nats://${line.address}`), await connect()];
    const project = randomUUID();
    const [to, about] = [subject(), `${prefix}.event.${project}.thing.made`];
    line.cut();
    await waitFor(() => !bus.isConnected());
    const seen: string[] = [];
    const starting = Promise.all([
      bus.serve(to, 'group', async (asked) => asked),
      bus.consume({ durable: `start-${project}`, subjects: [about] }, async ({ id }) => void seen.push(id)),
    ]);
    line.mend();
    await starting;
    await waitFor(() => bus.isConnected());
    await other.publish({ subject: about, id: `start-${project}`, body: bytes('') });
    await waitFor(() => seen.length > 0);
    expect((await other.request(to, message, 30_000, { repeatable: true })).body).toHaveLength(0);
  });

  /** Takes all steps of a start that need a connection. */
  const start = (bus: NatsBus) => {
    const [durable, subjects] = [randomUUID(), [`${prefix}.event.${randomUUID()}.thing.made`]];
    return Promise.allSettled([
      bus.startOver(`over-${durable}`),
      bus.consume({ durable, subjects }, async () => undefined),
      bus.serve(subject(), 'group', async (asked) => asked),
      listenAtStart(bus, subject(), () => undefined),
    ]);
  };

  test('the time without a connection does not count towards the time limit of a start', async () => {
    const sent: string[] = [];
    await using line = await layLine(new URL(url), () => (from, chunk) => {
      if (from === 'client') sent.push(chunk.toString());
    });
    const startMs = 300;
    const bus = await connect(`nats://${line.address}`, startMs);
    // The server gets all requests, but no answer comes back. So all steps still wait when the connection breaks.
    line.mute();
    const starting = start(bus);
    await waitFor(() => ['$JS.API.STREAM.INFO', '.rpc.'].every((text) => sent.join('').includes(text)));
    line.cut();
    await waitFor(() => !bus.isConnected());
    await pause(2 * startMs);
    line.mend();
    expect((await starting).map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
  });

  test('a start that waits for a connection ends when its bus is closed', async () => {
    await using line = await layLine(new URL(url));
    const bus = await connect(`nats://${line.address}`);
    line.cut();
    await waitFor(() => !bus.isConnected());
    const starting = start(bus);
    await bus.close();
    expect((await starting).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
  });

  test('without a connection, a server of requests still drains, and waits for the work under way', async () => {
    await using line = await layLine(new URL(url));
    const [serving, asking] = [await connect(`nats://${line.address}`), await connect()];
    const to = subject();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const ends: string[] = [];
    const busy = await serving.serve(to, 'group', async () => {
      begin();
      await open;
      ends.push('work');
      return message;
    });
    const idle = await serving.serve(subject(), 'group', async () => message);
    // This request never gets its answer. It fails at the end of the suite, when its bus is closed.
    asking.request(to, message, 60_000).catch(() => undefined);
    await begun;
    line.cut();
    await waitFor(() => !serving.isConnected());
    const drained = busy.drain().then(() => ends.push('drained'));
    // Apart from the work under way, both drains take the same time. So when the idle server has drained, nothing but this work
    // can delay the drain of the busy server.
    await idle.drain();
    expect(ends).toEqual([]);
    resolve();
    await drained;
    expect(ends).toEqual(['work', 'drained']);
  });

  test('a publication whose answer is lost with the connection fails immediately, and a retry stores the event once', async () => {
    await using line = await layLine(new URL(url));
    const [publishing, reading] = [await connect(`nats://${line.address}`), await connect()];
    const project = randomUUID();
    const event = { subject: `${prefix}.event.${project}.thing.made`, id: project, body: bytes('once') };
    const seen: string[] = [];
    const { promise: isSeen, resolve } = Promise.withResolvers<void>();
    const options = { durable: `once-${project}`, subjects: [event.subject] };
    await reading.consume(options, async ({ id }) => {
      seen.push(id);
      resolve();
    });
    // This first publication makes sure that the streams exist, so the next one does not need an answer about them.
    await publishing.publish({ ...event, subject: `${prefix}.event.${project}.thing.other`, id: 'other' });
    // The line still carries data to the server, but no data comes back.
    line.mute();
    const refused = expect(publishing.publish(event)).rejects.toThrow(NoResponders);
    await isSeen;
    line.cut();
    // The publication must reject before its timeout of five seconds, because the timeout would give another error.
    await refused;
    line.mend();
    await waitFor(() => publishing.isConnected());
    await publishing.publish(event);
    expect(seen).toEqual([project]);
  });

  test('if handlers end while there is no connection, their outcomes are reported to the server after the reconnect', async () => {
    await using line = await layLine(new URL(url));
    const [consuming, publishing] = [await connect(`nats://${line.address}`), await connect()];
    const project = randomUUID();
    const subject = `${prefix}.event.${project}.thing.made`;
    const options = { durable: `away-${project}`, subjects: [subject], atOnce: 2, backoffMs: [10] };
    const { promise: away, resolve } = Promise.withResolvers<void>();
    const deliveries: string[] = [];
    let ended = 0;
    await consuming.consume(options, async ({ id, delivery }) => {
      deliveries.push(`${id} ${delivery}`);
      await away;
      ended++;
      if (id === 'failing' && delivery === 1) throw new Error('not yet');
    });
    for (const id of ['failing', 'working']) await publishing.publish({ subject, id, body: bytes('') });
    await waitFor(() => deliveries.length === 2);
    line.cut();
    await waitFor(() => !consuming.isConnected());
    resolve();
    await waitFor(() => ended === 2);
    line.mend();
    await waitFor(() => consuming.isConnected());
    // If the outcomes did not reach the server, it would deliver the events again only after 30 seconds.
    const left = async () => (await publishing.backlog(options.durable)).pending;
    await waitFor(async () => deliveries.length === 3 && (await left()) === 0);
    expect(deliveries).toEqual(['failing 1', 'working 1', 'failing 2']);
  });

  test('a bus with several server addresses connects to a server that it can reach', async () => {
    const bus = await connect(`nats://127.0.0.1:1,${url}`);
    expect(bus.isConnected()).toBe(true);
  });

  test.each([
    ['http://127.0.0.1:4222', 'is not a NATS address'],
    ['nats://user:secret@', 'is not a NATS address'],
  ])(
    'the address %s is refused with an error that does not contain its password',
    async (address, sentence) => {
      const refused = connect(address);
      await expect(refused).rejects.toThrow(sentence);
      await expect(refused).rejects.not.toThrow('secret');
    },
  );

  test('a tls:// address never connects to a server without TLS', async () => {
    const plain = NatsBus.connect({
      url: url.replace('nats:', 'tls:'),
      name: 'test',
      prefix,
      log,
      connectTimeoutMs: 1,
    });
    await expect(plain).rejects.toThrow(/does not answer: \S/);
  });

  test('a consumer that works on fetched events for longer than two heartbeats is not interrupted', async () => {
    const lines: { msg?: string }[] = [];
    const heard = createLogger({
      name: 'test',
      level: 'warn',
      destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
    });
    const bus = undo.adopt(await NatsBus.connect({ url, name: 'test', prefix, log: heard }), (one) =>
      one.close(),
    );
    const project = randomUUID();
    const about = `${prefix}.event.${project}.thing.made`;
    for (let id = 0; id < 20; id++) await bus.publish({ subject: about, id: `${id}`, body: bytes('') });
    const handled: string[] = [];
    // Twenty events arrive together, and handling them takes two seconds.
    await bus.consume({ durable: `slow-${project}`, subjects: [about] }, async ({ id }) => {
      await pause(100);
      handled.push(id);
    });
    await waitFor(() => handled.length === 20, { timeoutMs: 20_000 });
    await bus.publish({ subject: about, id: 'next', body: bytes('') });
    await waitFor(() => handled.includes('next'));
    expect(handled).toHaveLength(21);
    expect(lines).toEqual([]);
  });

  test('an event that takes two seconds to reach a waiting consumer still arrives', async () => {
    await using line = await layLine(new URL(url));
    const [consuming, publishing] = [await connect(`nats://${line.address}`), await connect()];
    const project = randomUUID();
    const subject = `${prefix}.event.${project}.thing.made`;
    const seen: string[] = [];
    const options = { durable: `late-${project}`, subjects: [subject] };
    await consuming.consume(options, async ({ id }) => void seen.push(id));
    await publishing.publish({ subject, id: 'first', body: bytes('') });
    await waitFor(() => seen.length === 1);
    line.hush();
    await publishing.publish({ subject, id: 'late', body: bytes('') });
    await pause(2_000);
    line.mend();
    // If the consumer had given up its fetch, the server would send the event again after 30 seconds.
    await waitFor(() => seen.length === 2, { timeoutMs: 20_000 });
    expect(seen).toEqual(['first', 'late']);
  });

  test('the last attempts of an event do not wait for a fetch to expire', async () => {
    const bus = await connect();
    const project = randomUUID();
    const subject = `${prefix}.event.${project}.thing.made`;
    const options = { durable: `last-${project}`, subjects: [subject], backoffMs: [10], maxDeliveries: 2 };
    const { promise: isLast, resolve } = Promise.withResolvers<number>();
    let failedAt = 0;
    await bus.consume(options, async ({ delivery }) => {
      if (delivery === 2) return resolve(performance.now());
      failedAt = performance.now();
      throw new Error('not yet');
    });
    await bus.publish({ subject, id: 'once', body: bytes('') });
    // A fetch expires after 5 s.
    expect((await isLast) - failedAt).toBeLessThan(4_000);
  });

  test('an event that was delivered too often is given up unhandled, because it may kill its process', async () => {
    const bus = await connect();
    const project = randomUUID();
    const about = `${prefix}.event.${project}.thing.made`;
    const options = { durable: `often-${project}`, subjects: [about], backoffMs: [10] };
    let failures = 0;
    const patient = await bus.consume({ ...options, maxDeliveries: 100 }, async () => {
      failures++;
      throw new Error('not now');
    });
    await bus.publish({ subject: about, id: 'poison', body: bytes('poison') });
    await waitFor(() => failures > 3);
    await patient.drain();
    const handled: string[] = [];
    await bus.consume({ ...options, maxDeliveries: 2 }, async ({ id }) => void handled.push(id));
    const [letter] = await waitFor(async () => {
      const letters = await bus.deadLetters(options.durable);
      return letters.length > 0 && letters;
    });
    expect(letter).toMatchObject({ id: 'poison', error: 'Error: delivered too often' });
    expect(handled).toEqual([]);
  });

  test('if an earlier version has created a consumer with a limit for pending events, this version removes the limit', async () => {
    const bus = await connect();
    const durable = `limited-${randomUUID()}`;
    const subject = `${prefix}.event.${randomUUID()}.thing.made`;
    await (await bus.consume({ durable, subjects: [subject] }, async () => undefined)).drain();
    const nc = undo.adopt(await natsConnect({ servers: new URL(url).host }), (one) => one.close());
    const { consumers } = await jetstreamManager(nc);
    const { events } = streamNames(prefix);
    const limit = async () => (await consumers.info(events, durable)).config.max_ack_pending;
    await consumers.update(events, durable, { max_ack_pending: 1_000 });
    expect(await limit()).toBe(1_000);
    const seen: string[] = [];
    await bus.consume({ durable, subjects: [subject] }, async ({ id }) => void seen.push(id));
    expect(await limit()).toBe(-1);
    await bus.publish({ subject, id: 'after', body: bytes('after') });
    await waitFor(() => seen.length === 1);
  });

  test('a consumer that two versions use has the subjects of both, no matter which version starts last', async () => {
    const [older, newer] = [await connect(), await connect()];
    const project = randomUUID();
    const durable = `versions-${project}`;
    const [kept, further] = ['thing.made', 'thing.gone'].map(
      (type) => `${prefix}.event.${project}.${type}`,
    ) as [string, string];
    const seen = { older: new Set<string>(), newer: new Set<string>() };
    const consume = (bus: NatsBus, subjects: readonly string[], of: Set<string>) =>
      bus.consume({ durable, subjects, backoffMs: [50] }, async ({ subject: about, id }) => {
        if (!subjects.includes(about)) throw new Error('not of this version');
        of.add(id);
      });
    await consume(older, [kept], seen.older);
    const upgraded = await consume(newer, [kept, further], seen.newer);
    const publish = (about: string, id: string) => older.publish({ subject: about, id, body: bytes(id) });
    for (let at = 0; at < 20; at++) {
      await publish(kept, `kept-${at}`);
      await publish(further, `further-${at}`);
    }
    await waitFor(() => seen.older.size + seen.newer.size === 40);
    expect([...seen.newer].filter((id) => id.startsWith('further'))).toHaveLength(20);
    // The older version starts again. It must not remove a subject of the newer version.
    await upgraded.drain();
    await consume(await connect(), [kept], seen.older);
    await consume(newer, [kept, further], seen.newer);
    await publish(further, 'further-last');
    await waitFor(() => seen.newer.has('further-last'));
  });
});
