import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { createLogger, Metrics, Secrets } from '@kith/base';
import { getFile } from '@kith/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BytesAnswer, downloadHandler } from './http-handler.ts';
import { type HttpIntake, operationHeader, serveHttp } from './http-intake.ts';
import { canonicalPath, signContext } from './signed-context.ts';

const secrets = new Secrets('a secret of at least 32 characters');
const context = { projectId: crypto.randomUUID(), params: { fileId: crypto.randomUUID() } };

/** Serves downloads of a file with the answers that `answer` returns. */
function serve(answer: () => BytesAnswer): Promise<HttpIntake> {
  return serveHttp({
    ...{ host: '127.0.0.1', port: 0, secrets, app: {}, metrics: new Metrics(), checkOutput: true },
    log: createLogger({ name: 'test', level: 'silent' }),
    handlers: [downloadHandler(getFile, async () => answer()) as never],
  });
}

/** Asks for the file as a gateway does. Resolves with the head of the answer. */
async function ask(intake: HttpIntake, agent: Agent): Promise<IncomingMessage> {
  const path = canonicalPath(getFile, context);
  const signed = signContext(secrets, { method: 'GET', path, operation: getFile.name }, context);
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
