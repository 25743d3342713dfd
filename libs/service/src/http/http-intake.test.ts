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

describe('a download', () => {
  const agent = new Agent({ keepAlive: true });
  let intake: HttpIntake;
  let answer: BytesAnswer;
  beforeAll(async () => {
    intake = await serveHttp({
      ...{ host: '127.0.0.1', port: 0, secrets, app: {}, metrics: new Metrics(), checkOutput: true },
      log: createLogger({ name: 'test', level: 'silent' }),
      handlers: [downloadHandler(getFile, async () => answer) as never],
    });
  });
  afterAll(async () => {
    agent.destroy();
    await intake.drain(0);
  });

  /** Downloads over a connection that stays open. Returns the bytes, and whether they are complete. */
  async function download(): Promise<{ body: string; isWhole: boolean }> {
    const path = canonicalPath(getFile, context);
    const signed = signContext(secrets, { method: 'GET', path, operation: getFile.name }, context);
    const headers = { ...signed, [operationHeader]: getFile.name };
    const outgoing = request(`${intake.url}${path}`, { agent, headers });
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    const isWhole = await new Promise<boolean>((resolve) => {
      incoming.on('error', () => resolve(false));
      incoming.on('end', () => resolve(incoming.complete));
    });
    return { body: Buffer.concat(chunks).toString(), isWhole };
  }
  const answering = (pieces: readonly string[], length: number): BytesAnswer => ({
    status: 200,
    headers: { 'Content-Length': String(length) },
    body: Readable.from(pieces.map((one) => Buffer.from(one))),
  });

  it('is whole, and leaves its connection to the next', async () => {
    for (let round = 0; round < 2; round++) {
      answer = answering(['all ', 'of it'], 9);
      expect(await download()).toEqual({ body: 'all of it', isWhole: true });
    }
  });

  it('is broken off where its bytes end before their length, as when they are removed meanwhile', async () => {
    answer = answering(['a part'], 9);
    expect(await download()).toEqual({ body: 'a part', isWhole: false });
    answer = answering(['all ', 'of it'], 9);
    expect(await download()).toEqual({ body: 'all of it', isWhole: true });
  });
});
