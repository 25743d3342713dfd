import { ApiError, createLogger, DeadlinePassed } from '@kith/base';
import { type Message, RequestTimeout } from '@kith/bus';
import { type InternalOperationSpec, internalOperation, operation, rpcSubject } from '@kith/contracts';
import {
  ask,
  encodeContext,
  handler,
  internalHandler,
  type OperationRequest,
  type RunningService,
  type ServiceRuntime,
  startService,
} from '@kith/service';
import { availableEngines, createRuntime } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

const spec = operation({
  name: 'collections.try',
  summary: 'Try',
  feature: 'collection',
  method: 'POST',
  path: '/try/:collectionId',
  scope: 'project',
  auth: 'user',
  limit: null,
  params: z.object({ collectionId: z.string() }),
  query: z.object({
    limit: z.string().default('7'),
    page: z.string().optional(),
    cursor: z.string().optional(),
  }),
  body: z.object({ name: z.string().optional() }),
  output: z.object({ ok: z.string() }),
  status: 201,
  errors: ['collection/not-found', 'DUPLICATE_EMAIL'],
});
const empty = operation({ ...spec, name: 'collections.try-empty', status: 204 });
const inner: InternalOperationSpec & { body: z.ZodType<{ name: string }> } = internalOperation({
  name: 'collections.try-inner',
  feature: 'collection',
  body: z.object({ name: z.string() }),
  output: z.object({ length: z.int() }),
  errors: ['collection/not-found'],
});
type Request = OperationRequest<typeof spec>;

describe.each(availableEngines())('the adapter of operations (%s)', (engine) => {
  let runtime: ServiceRuntime & AsyncDisposable;
  let service: RunningService;
  let log: Record<string, unknown>[] = [];
  let answer: (request: Request) => Promise<unknown>;
  beforeAll(async () => {
    runtime = await createRuntime(engine);
    const destination = { write: (line: string) => void log.push(JSON.parse(line)) };
    const logged = { ...runtime, log: createLogger({ name: 'test', level: 'debug', destination }) };
    const handle = (request: Request) => answer(request);
    const internal = internalHandler(inner, async ({ name }: { name: string }) => {
      if (name === 'missing') throw new ApiError('collection/not-found');
      return { length: name.length };
    });
    const operations = { spec: handler(spec, handle as never), empty: handler(empty, handle as never) };
    service = await startService(
      logged,
      { name: 'collections', operations, internal: [internal] },
      { app: {} },
    );
  });
  afterAll(async () => {
    await service?.stop();
    await runtime?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    log = [];
  });

  const call = async (
    options: { body?: string; query?: string; deadline?: number; of?: typeof spec | typeof empty } = {},
    timeoutMs = 10_000,
  ) => {
    const headers = encodeContext({
      requestId: 'request-1',
      projectId: 'project-1',
      caller: { userId: 'user-1', sessionId: 'session-1', role: 'visitor' },
      clientIp: '192.0.2.1',
      userAgent: 'test',
      wireVersion: 'v7',
      form: '/api/v7',
      deadline: options.deadline ?? Date.now() + 10_000,
      params: { collectionId: 'c-1' },
      query: options.query ?? '',
      traceparent: null,
    });
    const message: Message = { headers, body: new TextEncoder().encode(options.body ?? '') };
    const reply = await runtime.bus.request(
      rpcSubject(runtime.bus.prefix, options.of ?? spec),
      message,
      timeoutMs,
    );
    return { headers: reply.headers, text: new TextDecoder().decode(reply.body) };
  };
  const logged = (message: string) => log.filter(({ msg }) => msg === message);
  const metric = async (name: string, labels = '') => {
    const start = labels ? `${name}{${labels}` : `${name} `;
    const lines = (await runtime.metrics.registry.metrics()).split('\n');
    return Number(
      lines
        .find((line) => line.startsWith(start))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  };
  const serverError = '{"error":"Something went wrong.","code":"collection/server-error"}';

  test('gives the handler a validated request, and gives the caller the answer of the handler', async () => {
    let got: Request | undefined;
    let working = 0;
    answer = async (request) => {
      got = request;
      working = await metric('kith_operations_in_flight');
      request.setHeader('X-Extra', 'yes');
      return { ok: 'é' };
    };
    const before = await metric(
      'kith_operation_duration_seconds_count',
      'operation="collections.try",status="201"',
    );
    const reply = await call({ body: '{"name":"x","other":1}', query: 'limit=2&other=3' });
    expect(reply.text).toBe('{"ok":"é"}');
    expect(reply.headers).toEqual({
      'Kith-Status': '201',
      'Content-Type': 'application/json',
      'X-Extra': 'yes',
    });
    expect(working).toBe(1);
    expect(got).toMatchObject({
      requestId: 'request-1',
      projectId: 'project-1',
      caller: { userId: 'user-1', sessionId: 'session-1', role: 'visitor' },
      wireVersion: 'v7',
      form: '/api/v7',
      params: { collectionId: 'c-1' },
      query: { limit: '2' },
      body: { name: 'x' },
    });
    expect(
      await metric('kith_operation_duration_seconds_count', 'operation="collections.try",status="201"'),
    ).toBe(before + 1);
    expect(logged('served')).toEqual([
      expect.objectContaining({ requestId: 'request-1', operation: 'collections.try', status: '201' }),
    ]);
  });

  test('answers 204 without a body', async () => {
    answer = async () => undefined;
    const reply = await call({ of: empty });
    expect(reply).toEqual({ headers: { 'Kith-Status': '204' }, text: '' });
  });

  test('links to the next page, and repeats all parameters except `page` and the old cursor', async () => {
    answer = async (request) => {
      request.linkNext('new');
      return { ok: '' };
    };
    const { headers } = await call({ query: 'limit=2&page=3&cursor=old&other=a%20b%3E' });
    expect(headers.Link).toBe('<?limit=2&cursor=new&other=a+b%3E>; rel="next"');
    expect((await call()).headers.Link).toBe('<?cursor=new&limit=7>; rel="next"');
  });

  test.each([
    ['that the contract lists', new ApiError('collection/not-found'), '404', 'No such collection.'],
    [
      'of upper case, with field',
      new ApiError('DUPLICATE_EMAIL', { field: 'email' }),
      '409',
      'This e-mail address is taken.',
    ],
    [
      'of validation',
      new ApiError('collection/invalid-query', { field: 'cursor' }),
      '400',
      'The query is not valid.',
    ],
  ])('answers with an error code %s, and logs no failure', async (_, error, status, message) => {
    answer = () => Promise.reject(error);
    const reply = await call();
    const field = error.field ? { field: error.field } : {};
    expect(reply.text).toBe(JSON.stringify({ error: message, code: error.code, ...field }));
    expect(reply.headers).toEqual({
      'Kith-Status': status,
      'Kith-Code': error.code,
      'Content-Type': 'application/json',
    });
    expect(logged('operation failed')).toEqual([]);
  });

  test.each([
    ['a code of another feature', () => Promise.reject(new ApiError('connection/not-found'))],
    ['any other error', () => Promise.reject(new TypeError('secret inside'))],
    ['something that is no error', () => Promise.reject('secret inside')],
    ['an answer outside the contract', async () => ({ ok: 7 })],
    ['no answer', async () => undefined],
    ['an answer too large for one message of the bus', async () => ({ ok: 'x'.repeat(4 * 1024 * 1024) })],
  ])('turns %s into the feature’s server error, and logs the failure', async (_, failing) => {
    answer = failing;
    const reply = await call();
    expect(reply.text).toBe(serverError);
    expect(reply.headers['Kith-Status']).toBe('500');
    expect(logged('operation failed')).toEqual([
      expect.objectContaining({ level: 'error', requestId: 'request-1', err: expect.anything() }),
    ]);
    expect(await metric('kith_operations_in_flight')).toBe(0);
  });

  test('does not pass invalid requests to the handler', async () => {
    let asked = 0;
    answer = async () => {
      asked++;
      return { ok: '' };
    };
    expect((await call({ body: '[]' })).text).toBe(
      '{"error":"The body is not a JSON object.","code":"request/invalid-json"}',
    );
    expect((await call({ body: '{"name":7}' })).text).toMatch(
      /"code":"collection\/invalid-body","field":"name"/,
    );
    expect((await call({ query: 'limit=1&limit=2' })).text).toBe(
      '{"error":"limit must be given only once.","code":"collection/invalid-query","field":"limit"}',
    );
    expect(asked).toBe(0);
  });

  test('does not work on a request whose deadline has passed', async () => {
    let asked = 0;
    answer = async () => {
      asked++;
      return { ok: '' };
    };
    const before = await metric('kith_operations_expired_total', 'operation="collections.try"');
    await expect(call({ deadline: Date.now() - 1 }, 200)).rejects.toThrow(RequestTimeout);
    // On a busy machine, the request arrives only after its caller has given up.
    await expect.poll(() => logged('not worked on: its deadline has passed')).toHaveLength(1);
    expect(asked).toBe(0);
    expect(await metric('kith_operations_expired_total', 'operation="collections.try"')).toBe(before + 1);
  });

  test('does not answer if the handler found that the deadline has passed', async () => {
    answer = () => Promise.reject(new DeadlinePassed());
    await expect(call({}, 200)).rejects.toThrow(RequestTimeout);
    expect(logged('operation failed')).toEqual([]);
  });

  test('lets services call each other', async () => {
    const context = { requestId: 'request-2', deadline: Date.now() + 5_000 };
    expect(await ask(runtime.bus, inner, { name: 'four' }, context)).toEqual({ length: 4 });
    await expect(ask(runtime.bus, inner, { name: 'missing' }, context)).rejects.toMatchObject({
      code: 'collection/not-found',
    });
    await expect(ask(runtime.bus, inner, { name: 7 as never }, context)).rejects.toMatchObject({
      code: 'collection/server-error',
    });
  });
});

test.each([
  ['development', 'a user', [['other', 'x'.repeat(64)]]],
  ['development', 'a server key', [['x'.repeat(64)]]],
  ['production', 'a user', []],
] as const)(
  'in %s, a warning names the keys of a body that nothing reads: %s',
  async (nodeEnv, sender, warnings) => {
    await using runtime = await createRuntime('embedded');
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const log = createLogger({ name: 'test', level: 'warn', destination });
    const serverKeyBody = z.object({ name: z.string().optional(), other: z.string().optional() });
    const answering = handler({ ...spec, serverKeyBody }, async () => ({ ok: 'yes' }));
    await using _service = await startService(
      { ...runtime, nodeEnv, log },
      { name: 'collections', operations: { answering } },
      { app: {} },
    );
    const body = { name: 'known', other: 'a value', ['x'.repeat(100)]: 1 };
    const serverKey = sender === 'a server key' ? { serverKey: { keyId: 'key-1' } } : {};
    const headers = encodeContext({ params: { collectionId: '1' }, ...serverKey });
    const message = { headers, body: new TextEncoder().encode(JSON.stringify(body)) };
    const reply = await runtime.bus.request(rpcSubject(runtime.bus.prefix, spec), message, 5_000);
    expect(reply.headers['Kith-Status']).toBe('201');
    expect(lines.map(({ unread }) => unread)).toEqual(warnings);
    expect(JSON.stringify(lines)).not.toContain('a value');
  },
);

test.each(availableEngines())('in production, answers are not checked again (%s)', async (engine) => {
  await using runtime = await createRuntime(engine);
  const drifting = handler(spec, async () => ({ ok: 7 as unknown as string }));
  await using _service = await startService(
    { ...runtime, nodeEnv: 'production' },
    { name: 'collections', operations: { drifting } },
    { app: {} },
  );
  const headers = encodeContext({ params: { collectionId: '1' } });
  const message = { headers, body: new Uint8Array() };
  const reply = await runtime.bus.request(rpcSubject(runtime.bus.prefix, spec), message, 5_000);
  expect(new TextDecoder().decode(reply.body)).toBe('{"ok":7}');
});
