import { randomBytes, randomUUID } from 'node:crypto';
import { type Bus, type Intake, type Message, NoResponders, RequestTimeout } from '@kith/bus';
import { availableEngines, createBus, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const text = (body: Uint8Array) => new TextDecoder().decode(body);
const bytes = (content: string) => new TextEncoder().encode(content);
const maxPayload = 4 * 1024 * 1024;

describe.each(availableEngines())('request and serve (%s)', (engine) => {
  let bus: Bus & AsyncDisposable;
  beforeAll(async () => {
    bus = await createBus(engine);
  });
  afterAll(() => bus?.[Symbol.asyncDispose]());

  const subject = () => `${bus.prefix}.rpc.test.${randomUUID()}`;
  const echo = async (message: Message) => message;
  const ask = (to: string, message: Partial<Message> = {}, timeoutMs = 10_000) =>
    bus.request(to, { headers: {}, body: new Uint8Array(), ...message }, timeoutMs);

  test.each([
    ['every byte', Uint8Array.from({ length: 256 }, (_, byte) => byte)],
    ['nothing', new Uint8Array()],
    ['text', bytes('{"a":"é😀\u0000"}')],
    ['3 MiB', new Uint8Array(randomBytes(3 * 1024 * 1024))],
  ])('sends and returns a body of %s unchanged', async (_, body) => {
    const to = subject();
    let got: Uint8Array | undefined;
    const intake = await bus.serve(to, 'group', async (message) => {
      got = message.body;
      return message;
    });
    const reply = await ask(to, { body });
    expect(Buffer.compare(got ?? bytes('none'), body)).toBe(0);
    expect(Buffer.compare(reply.body, body)).toBe(0);
    await intake.drain();
  });

  test('keeps upper and lower case in the names of headers, and trims the values', async () => {
    const to = subject();
    let got: Message['headers'] = {};
    const intake = await bus.serve(to, 'group', async ({ headers }) => {
      got = headers;
      return { headers: { ...headers, 'Kith-Status': '200' }, body: new Uint8Array() };
    });
    const headers = {
      'Kith-Request-Id': 'abc',
      'kith-lower': 'x: y, z; q="1"',
      'Kith-Agent': encodeURIComponent('naïve 😀 \r\n agent'),
      'Kith-Raw': 'é😀',
      'Kith-Empty': '',
      'Kith-Spaces': '  in  side \t',
      'Kith-Query': 'a=1&b=%20%2B&cursor=eyJ9',
    };
    const expected = { ...headers, 'Kith-Spaces': 'in  side' };
    const reply = await ask(to, { headers });
    expect(got).toEqual(expected);
    expect(reply.headers).toEqual({ ...expected, 'Kith-Status': '200' });
    expect((await ask(to)).headers).toEqual({ 'Kith-Status': '200' });
    await intake.drain();
  });

  test('refuses a message that is too large or has an invalid header, and no server receives it', async () => {
    const to = subject();
    let asked = 0;
    const intake = await bus.serve(to, 'group', async (message) => {
      asked++;
      return { headers: {}, body: bytes(String(message.body.length)) };
    });
    await expect(ask(to, { body: new Uint8Array(maxPayload + 1) })).rejects.toThrow(RangeError);
    await expect(ask(to, { headers: { A: 'b' }, body: new Uint8Array(maxPayload) })).rejects.toThrow(
      RangeError,
    );
    await expect(ask(to, { headers: { A: 'b\r\nC: d' } })).rejects.toThrow(TypeError);
    await expect(ask(to, { headers: { 'A b': 'c' } })).rejects.toThrow(TypeError);
    await expect(ask(to, { headers: { 'A:b': 'c' } })).rejects.toThrow(TypeError);
    expect(asked).toBe(0);
    const largest = { headers: { A: 'b' }, body: new Uint8Array(maxPayload - 18) };
    expect(text((await ask(to, largest)).body)).toBe(String(maxPayload - 18));
    await intake.drain();
  });

  test('fails immediately if the subject never had a server, or if its server has stopped', async () => {
    // The time limit is an hour, so the test would time out if the request did not fail immediately.
    const to = subject();
    await expect(ask(to, {}, 3_600_000)).rejects.toThrow(NoResponders);
    const intake = await bus.serve(to, 'group', echo);
    await ask(to);
    await intake.drain();
    await intake.drain();
    await expect(ask(to, {}, 3_600_000)).rejects.toThrow(NoResponders);
  });

  test.each([
    ['is silent', async () => undefined],
    ['throws', () => Promise.reject(new Error('broken'))],
    [
      'answers with a message that is too large',
      async () => ({ headers: {}, body: new Uint8Array(maxPayload + 1) }),
    ],
    ['answers with an invalid header', async () => ({ headers: { A: '\n' }, body: new Uint8Array() })],
  ])('times out if the server %s, and serves the next request', async (_, answer) => {
    const to = subject();
    let broken = true;
    const intake = await bus.serve(to, 'group', (message) => (broken ? answer() : echo(message)));
    await expect(ask(to, {}, 100)).rejects.toThrow(RequestTimeout);
    broken = false;
    await ask(to);
    await intake.drain();
  });

  test('shares a subject within the group: each request goes to one server, and each server gets some requests', async () => {
    const to = subject();
    const counts = [0, 0, 0];
    const intakes: Intake[] = [];
    for (const index of counts.keys()) {
      intakes.push(
        await bus.serve(to, 'group', async (message) => {
          counts[index] = (counts[index] ?? 0) + 1;
          return message;
        }),
      );
    }
    for (let asked = 0; asked < 150; asked++) await ask(to);
    expect(counts.reduce((sum, count) => sum + count)).toBe(150);
    expect(Math.min(...counts)).toBeGreaterThan(10);
    // When a server stops, the other servers get its requests.
    await intakes[0]?.drain();
    const [first = 0] = counts;
    for (let asked = 0; asked < 20; asked++) await ask(to);
    expect(counts[0]).toBe(first);
    await Promise.all(intakes.map((intake) => intake.drain()));
  });

  test('answers many requests at the same time, each with its own reply', async () => {
    const to = subject();
    const intake = await bus.serve(to, 'group', async (message) => {
      // The first 50 requests wait for a further request, so later requests are answered before them.
      if (text(message.body) < '050') await ask(to, { body: bytes('overtaking') });
      return message;
    });
    const asked = Array.from({ length: 100 }, (_, index) => String(index).padStart(3, '0'));
    const replies = await Promise.all(asked.map((body) => ask(to, { body: bytes(body) })));
    expect(replies.map(({ body }) => text(body))).toEqual(asked);
    await intake.drain();
  });

  test('drain takes no more requests and waits for those in flight, and their replies arrive', async () => {
    const to = subject();
    const { promise: started, resolve: begin } = Promise.withResolvers<void>();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const intake = await bus.serve(to, 'group', async (message) => {
      begin();
      await gate;
      return message;
    });
    const reply = ask(to, { body: bytes('late') });
    await started;
    let drained = false;
    const drain = intake.drain().then(() => {
      drained = true;
    });
    await waitFor(() =>
      ask(to, {}, 50).then(
        () => false,
        (error) => error instanceof NoResponders,
      ),
    );
    expect(drained).toBe(false);
    open();
    await drain;
    expect(text((await reply).body)).toBe('late');
  });

  test('drain waits for a request that was received but not begun', async () => {
    const to = subject();
    let finished = 0;
    const intake = await bus.serve(to, 'group', async (message) => {
      await new Promise(setImmediate);
      finished++;
      return message;
    });
    const replies = Array.from({ length: 20 }, () => ask(to).catch((error) => error));
    await intake.drain();
    const finishedWhenDrained = finished;
    const answered = (await Promise.all(replies)).filter((reply) => !(reply instanceof NoResponders));
    expect(answered).toHaveLength(finishedWhenDrained);
    expect(finished).toBe(finishedWhenDrained);
  });
});

test.each(availableEngines())('a closed bus answers no request (%s)', async (engine) => {
  const bus = await createBus(engine);
  await bus.serve(`${bus.prefix}.rpc.test.x`, 'group', async (message) => message);
  await bus.consume({ durable: 'test-open', subjects: [`${bus.prefix}.event.>`] }, async () => {});
  expect(bus.isConnected()).toBe(true);
  await bus.close();
  await bus.close();
  expect(bus.isConnected()).toBe(false);
  const message = { headers: {}, body: new Uint8Array() };
  await expect(bus.request(`${bus.prefix}.rpc.test.x`, message, 1_000)).rejects.toThrow(NoResponders);
  await expect(
    bus.publish({ subject: `${bus.prefix}.event.p.a.b`, id: '1', body: message.body }),
  ).rejects.toThrow();
  await bus[Symbol.asyncDispose]();
});

describe.each(availableEngines())('broadcast and listen (%s)', (engine) => {
  let bus: Bus & AsyncDisposable;
  beforeAll(async () => {
    bus = await createBus(engine);
  });
  afterAll(() => bus?.[Symbol.asyncDispose]());

  test('delivers a notice to all current listeners, and not to a listener that has stopped', async () => {
    const name = randomUUID();
    const heard: string[] = [];
    const note = (who: string) => (notice: { subject: string; body: Uint8Array }) =>
      heard.push(`${who} ${notice.subject.slice(-1)} ${text(notice.body)}`);
    const one = await bus.listen(`${bus.prefix}.notice.${name}.a`, note('one'));
    const two = await bus.listen(`${bus.prefix}.notice.${name}.*`, note('two'));
    await bus.broadcast(`${bus.prefix}.notice.${name}.a`, bytes('first'));
    await bus.broadcast(`${bus.prefix}.notice.${name}.b`, bytes('second'));
    await waitFor(() => heard.length === 3);
    expect(heard.toSorted()).toEqual(['one a first', 'two a first', 'two b second']);
    await one.drain();
    await bus.broadcast(`${bus.prefix}.notice.${name}.a`, bytes('third'));
    await waitFor(() => heard.length === 4);
    expect(heard.at(-1)).toBe('two a third');
    await two.drain();
  });

  test('calls a listener again after it has thrown', async () => {
    const subject = `${bus.prefix}.notice.${randomUUID()}`;
    const heard: string[] = [];
    const intake = await bus.listen(subject, ({ body }) => {
      heard.push(text(body));
      if (heard.length === 1) throw new Error('not this one');
    });
    await bus.broadcast(subject, bytes('1'));
    await bus.broadcast(subject, bytes('2'));
    await waitFor(() => heard.length === 2);
    expect(heard).toEqual(['1', '2']);
    await intake.drain();
  });
});
