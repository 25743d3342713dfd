import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { createLogger, Metrics, Secrets, startTracing, stopTracing, tracing } from '@kith/base';
import { getFile } from '@kith/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCollector } from '../../../../tests/support/collector.ts';
import { type BytesAnswer, downloadHandler, type HttpRequest } from './http-handler.ts';
import { type HttpIntake, operationHeader, serveHttp } from './http-intake.ts';
import { canonicalPath, signContext } from './signed-context.ts';

const secrets = new Secrets('a secret of at least 32 characters');
const context = { projectId: crypto.randomUUID(), params: { fileId: crypto.randomUUID() } };

/** Serves downloads of a file with the answers that `answer` returns. */
function serve(
  answer: (request: HttpRequest<typeof getFile>) => BytesAnswer,
  log = createLogger({ name: 'test', level: 'silent' }),
): Promise<HttpIntake> {
  return serveHttp({
    ...{ host: '127.0.0.1', port: 0, secrets, app: {}, metrics: new Metrics(), checkOutput: true },
    log,
    handlers: [downloadHandler(getFile, async (request) => answer(request)) as never],
  });
}

/** Asks for the file as a gateway does. Resolves with the head of the answer. */
async function ask(intake: HttpIntake, agent: Agent, traceparent?: string): Promise<IncomingMessage> {
  const path = canonicalPath(getFile, context);
  const asked = { method: 'GET', path, operation: getFile.name };
  const signed = signContext(secrets, asked, { ...context, ...(traceparent && { traceparent }) });
  const headers = { ...signed, [operationHeader]: getFile.name };
  const outgoing = request(`${intake.url}${path}`, { agent, headers });
  outgoing.end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return incoming;
}

/** The bytes of an answer, and whether they are complete. */
async function bytesOf(incoming: IncomingMessage): Promise<{ body: string; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  const isWhole = await new Promise<boolean>((resolve) => {
    incoming.on('error', () => resolve(false));
    incoming.on('end', () => resolve(incoming.complete));
  });
  return { body: Buffer.concat(chunks).toString(), isWhole };
}

it('a stopping intake still answers requests on open connections, with `Connection: close`', async () => {
  // The agent has only two connections, so the third request waits until one of them is free, and then uses it.
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  let answer: BytesAnswer;
  const intake = await serve(() => answer);
  const begin = async () => {
    const gate = Promise.withResolvers<void>();
    const body = async function* () {
      yield Buffer.from('all ');
      await gate.promise;
      yield Buffer.from('of it');
    };
    answer = { status: 200, headers: { 'Content-Length': '9' }, body: body() };
    const incoming = await ask(intake, agent);
    return { incoming, goOn: gate.resolve, end: () => bytesOf(incoming) };
  };
  const whole = { body: 'all of it', isWhole: true };
  const [one, other] = [await begin(), await begin()];
  const stopped = intake.stop(60_000);
  other.goOn();
  expect(await other.end()).toEqual(whole);
  const late = await begin();
  expect(late.incoming.headers.connection).toBe('close');
  one.goOn();
  expect(await one.end()).toEqual(whole);
  late.goOn();
  expect(await late.end()).toEqual(whole);
  await stopped;
  agent.destroy();
});

it('log lines of a request have the ids of the span that the service makes for it', async () => {
  await using undo = new AsyncDisposableStack();
  const collector = undo.use(await startCollector());
  await startTracing('test', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  undo.defer(stopTracing);
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  let own: string | undefined;
  const answer = ({ log }: HttpRequest<typeof getFile>): BytesAnswer => {
    own = tracing()?.active();
    log.warn('asked for a file');
    return { status: 304, headers: {} };
  };
  const intake = await serve(answer, createLogger({ name: 'test', level: 'warn', destination }));
  undo.defer(() => intake.stop(0));
  const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
  const agent = undo.adopt(new Agent(), (one) => one.destroy());
  await bytesOf(await ask(intake, agent, `00-${traceId}-${spanId}-01`));
  const [{ trace_id, span_id } = {}] = lines;
  expect([trace_id, `00-${trace_id}-${span_id}-01`]).toEqual([traceId, own]);
  expect(span_id).not.toBe(spanId);
});

describe('a download', () => {
  const agent = new Agent({ keepAlive: true });
  let intake: HttpIntake;
  let answer: BytesAnswer;
  beforeAll(async () => {
    intake = await serve(() => answer);
  });
  afterAll(async () => {
    agent.destroy();
    await intake.stop(0);
  });

  /** Downloads over a connection that stays open. Returns the bytes, and whether they are complete. */
  const download = async () => bytesOf(await ask(intake, agent));
  const answering = (pieces: readonly string[], length: number): BytesAnswer => ({
    status: 200,
    headers: { 'Content-Length': String(length) },
    body: Readable.from(pieces.map((one) => Buffer.from(one))),
  });

  it('is complete, and its connection can be used again', async () => {
    for (let round = 0; round < 2; round++) {
      answer = answering(['all ', 'of it'], 9);
      expect(await download()).toEqual({ body: 'all of it', isWhole: true });
    }
  });

  it('is aborted if it has fewer bytes than announced', async () => {
    answer = answering(['a part'], 9);
    expect(await download()).toEqual({ body: 'a part', isWhole: false });
    answer = answering(['all ', 'of it'], 9);
    expect(await download()).toEqual({ body: 'all of it', isWhole: true });
  });
});
