import { internalOperation, operation, rpcSubject } from '@kith/contracts';
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';

const work = operation({
  name: 'collections.work',
  summary: 'Work',
  feature: 'collection',
  method: 'POST',
  path: '/try/:name',
  scope: 'project',
  auth: 'none',
  limit: null,
  params: z.object({ name: z.string() }),
  query: z.object({}),
  body: z.object({}),
  output: z.object({ name: z.string() }),
  status: 200,
  errors: [],
});
const like = (name: string) =>
  operation({ ...work, name: `collections.${name}`, path: `/${name}/:name` }) as unknown as typeof work;
const [hash, keys] = [like('hash'), like('keys')];
const inner = internalOperation({
  name: 'collections.inner',
  feature: 'collection',
  body: z.object({}),
  output: z.object({ ok: z.boolean() }),
  errors: [],
});

const atOnce = 2;
/** How many operations may wait while the usual duration of work is unknown. */
const mayWait = 16 * atOnce;

describe.each(availableEngines())('a busy service (%s)', (engine) => {
  let runtime: ServiceRuntime & AsyncDisposable;
  let service: RunningService;
  let begun: string[];
  let goOn: () => void;
  beforeEach(async () => {
    runtime = await createRuntime(engine);
    begun = [];
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const answer = async ({ params }: OperationRequest<typeof work>) => ({ name: params.name });
    const wait = async (request: OperationRequest<typeof work>) => {
      begun.push(request.params.name);
      await gate;
      return answer(request);
    };
    service = await startService(
      { ...runtime, operationsAtOnce: atOnce },
      {
        name: 'collections',
        operations: {
          work: handler(work, wait),
          hash: handler(hash, wait, { places: 'own' }),
          keys: handler(keys, answer, { places: 'none' }),
        },
        internal: [internalHandler(inner, async () => ({ ok: true }))],
      },
      { app: {} },
    );
  });
  afterEach(async () => {
    goOn();
    await service.stop();
    await runtime[Symbol.asyncDispose]();
  });

  const call = async (name: string, timeoutMs = 20_000, of = work) => {
    const headers = encodeContext({ deadline: Date.now() + timeoutMs, params: { name } });
    const message = { headers, body: new Uint8Array() };
    return await runtime.bus.request(rpcSubject(runtime.bus.prefix, of), message, timeoutMs);
  };
  const calls = (count: number) => Array.from({ length: count }, (_, at) => call(String(at)));
  const shed = async () => {
    const { values } = await runtime.metrics.operations.get();
    return values.find(({ labels }) => labels.outcome === 'shed')?.value ?? 0;
  };

  it('turns away excess requests immediately, does the others in order, and then accepts requests again', async () => {
    const all = calls(atOnce + mayWait);
    await expect.poll(() => begun).toEqual(['0', '1']);
    const { headers, body } = await call('too much');
    expect(headers).toMatchObject({ 'Kith-Status': '503', 'Retry-After': '1', 'Kith-Shed': '1' });
    expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({ code: 'gateway/unavailable' });
    expect(await shed()).toBe(1);
    expect(begun).toEqual(['0', '1']);

    goOn();
    for (const reply of await Promise.all(all)) expect(reply.headers['Kith-Status']).toBe('200');
    expect(begun).toEqual(all.map((_, at) => String(at)));
    expect((await call('after')).headers['Kith-Status']).toBe('200');
  });

  it('does not begin a request whose caller has given up', async () => {
    const all = calls(atOnce);
    await expect.poll(() => begun).toEqual(['0', '1']);
    // The deadline of `late` is counted from the moment at which the request arrives. When the caller of `later` gives up, the
    // deadline of `late` has certainly passed.
    const late = [call('late', 50), call('later', 3_000)];
    for (const one of late) await expect(one).rejects.toThrow('did not answer');
    goOn();
    await Promise.all(all);
    await call('after');
    expect(begun).not.toContain('late');
    expect(begun).toContain('after');
  });

  it('gives no shared place to operations that have places of their own, and always answers operations that need no place', async () => {
    const narrow = Array.from({ length: atOnce + 3 }, (_, at) => call(`narrow ${at}`, 20_000, hash));
    await expect.poll(() => begun).toEqual(['narrow 0', 'narrow 1']);
    const all = calls(atOnce + mayWait);
    await expect.poll(() => begun).toHaveLength(2 * atOnce);
    expect((await call('keys', 20_000, keys)).headers['Kith-Status']).toBe('200');
    goOn();
    for (const reply of await Promise.all([...narrow, ...all]))
      expect(reply.headers['Kith-Status']).toBe('200');
  });

  it('answers requests of other services even if all places are taken', async () => {
    const all = calls(atOnce + 1);
    await expect.poll(() => begun).toEqual(['0', '1']);
    const context = { requestId: 'r', deadline: Date.now() + 10_000 };
    expect(await ask(runtime.bus, inner, {}, context)).toEqual({ ok: true });
    goOn();
    await Promise.all(all);
  });
});
