import { request } from 'node:http';
import { Secrets } from '@kith/base';
import { statusHeader } from '@kith/bus';
import { createFile, createImage, getFile, type OperationSpec } from '@kith/contracts';
import {
  canonicalPath,
  folderHeader,
  operationHeader,
  type RequestContext,
  signContext,
  storedHeader,
} from '@kith/service';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { filePart, multipart } from '../../../tests/support/multipart.ts';
import type { Owner } from '../src/file.ts';
import { type Answer, answerTo, contextOf, secrets } from './support/bytes-client.ts';
import { someone, World } from './support/world.ts';

const contextHeader = 'kith-signed-context';
const signatureHeader = 'kith-signature';

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
}

interface Signing {
  spec?: OperationSpec;
  method?: string;
  by?: Secrets;
  /** How far the signer's clock is ahead, in ms. */
  ahead?: number;
  context?: Partial<RequestContext>;
}

let world: World;
let owner: Owner;
let stored: string;
beforeAll(async () => {
  world = await World.start('embedded');
  const holder = someone();
  stored = await world.file(holder, Buffer.from('of somebody'));
  owner = someone(holder.projectId);
});
afterAll(() => world?.[Symbol.asyncDispose]());

/**
 * A request as a gateway sends it. The argument can change how the request is signed, for example with another secret or by
 * another clock.
 */
function signed({ spec = createFile, method, by = secrets, ahead = 0, context }: Signing = {}): Sent {
  const isUpload = spec.kind === 'upload';
  const params: Record<string, string> = isUpload ? {} : { fileId: stored };
  const told = { ...contextOf({ ...owner, params }), ...context };
  const path = canonicalPath(spec, { projectId: told.projectId ?? '', params: told.params ?? {} });
  const sent = { method: method ?? (isUpload ? 'POST' : 'GET'), path };
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ahead);
  try {
    const signature = signContext(by, { ...sent, operation: spec.name }, told);
    return { ...sent, headers: { ...signature, [operationHeader]: spec.name } };
  } finally {
    clock.mockRestore();
  }
}

function send({ method, path, headers }: Sent) {
  const { type, body } = multipart([filePart('the bytes')]);
  const isUpload = !['GET', 'HEAD'].includes(method);
  const all = { ...headers, ...(isUpload && { 'content-type': type }) };
  const outgoing = request(`${world.url()}${path}`, { method, agent: false, headers: all });
  outgoing.end(isUpload ? body : undefined);
  return answerTo(outgoing);
}

/** A signed request whose context was changed after signing. */
function claiming(changes: Partial<RequestContext>): Sent {
  const one = signed();
  return {
    ...one,
    headers: { ...one.headers, [contextHeader]: signed({ context: changes }).headers[contextHeader]! },
  };
}

const without = (name: string): Sent => {
  const { method, path, headers } = signed();
  const { [name]: _, ...others } = headers;
  return { method, path, headers: others };
};
const withHeader = (name: string, value: string | string[], one = signed()): Sent => ({
  ...one,
  headers: { ...one.headers, [name]: value },
});
const signatureOf = ({ headers }: Sent) => String(headers[signatureHeader]);
const other = someone();

it('a gateway that names the folder of the bytes gets only their place, and any other gateway gets the bytes themselves', async () => {
  const { folderId } = world.place.blobs;
  const [key] = (await world.place.held(owner)).keys;
  const ask = async (id: string, range?: string) => {
    const named = withHeader(folderHeader, id, signed({ spec: getFile }));
    const { status, headers, body } = (await send(
      range ? withHeader('range', range, named) : named,
    )) as Answer;
    return [status, headers[storedHeader.toLowerCase()], headers['content-range'], body.toString()];
  };
  const size = 'of somebody'.length;
  expect(await ask(folderId ?? '')).toEqual([200, `${key} ${size}`, undefined, '']);
  expect(await ask(folderId ?? '', 'bytes=3-4')).toEqual([206, `${key} 2 3 4`, `bytes 3-4/${size}`, '']);
  expect(await ask('another')).toEqual([200, undefined, undefined, 'of somebody']);
});

describe('the address for bytes refuses', () => {
  const cases: readonly [string, () => Sent][] = [
    ['no signature', () => without(signatureHeader)],
    ['no context', () => without(contextHeader)],
    ['no operation', () => without(operationHeader)],
    ['none of these headers', () => ({ ...signed(), headers: {} })],
    ['the context of the bus', () => withHeader('kith-context', '{}', { ...signed(), headers: {} })],
    [
      'the secret of another installation',
      () => signed({ by: new Secrets('the gateway of other suites of storage') }),
    ],
    [
      'a signature with one changed letter',
      () => {
        const [end, mac = ''] = signatureOf(signed()).split('.');
        return withHeader(signatureHeader, `${end}.${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`);
      },
    ],
    ['a signature that is too short', () => withHeader(signatureHeader, signatureOf(signed()).slice(0, -1))],
    ['an empty signature', () => withHeader(signatureHeader, '')],
    ['two signatures', () => withHeader(signatureHeader, [signatureOf(signed()), signatureOf(signed())])],
    ['another method', () => ({ ...signed(), method: 'PUT' })],
    ['HEAD, signed for GET', () => ({ ...signed({ spec: getFile }), method: 'HEAD' })],
    ['GET, signed for HEAD', () => ({ ...signed({ spec: getFile, method: 'HEAD' }), method: 'GET' })],
    ['a method that the operation does not have', () => signed({ method: 'PUT' })],
    ['another path', () => ({ ...signed(), path: `/${other.projectId}/storage/files` })],
    ['a query', () => ({ ...signed(), path: `${signed().path}?a=1` })],
    [
      'another project',
      () => ({ ...claiming({ projectId: other.projectId }), path: `/${other.projectId}/storage/files` }),
    ],
    [
      'another project in the context with the path of the first project',
      () => claiming({ projectId: other.projectId }),
    ],
    ['another user', () => claiming({ caller: { userId: other.userId, sessionId: 's', role: 'visitor' } })],
    [
      'another role',
      () => claiming({ caller: { userId: owner.userId, sessionId: owner.userId, role: 'admin' } }),
    ],
    ['another request id', () => claiming({ requestId: 'another' })],
    ['another file', () => ({ ...signed({ spec: getFile }), path: signed().path })],
    ['another operation', () => withHeader(operationHeader, createImage.name)],
    [
      'another operation with the path of that operation',
      () => ({ ...withHeader(operationHeader, createImage.name), path: signed({ spec: createImage }).path }),
    ],
    [
      'an operation that is served only over the bus',
      () => withHeader(operationHeader, 'storage.list-files'),
    ],
    [
      'another expiry time',
      () => {
        const [end, mac] = signatureOf(signed()).split('.');
        return withHeader(signatureHeader, `${Number(end) + 1}.${mac}`);
      },
    ],
    ['an expiry time that is more than 60 s away', () => signed({ ahead: 31_000 })],
    ['an expiry time in the past', () => signed({ ahead: -30_000 })],
  ];
  it.each(cases)('%s', async (_, make) => {
    const before = await world.place.held(owner);
    const one = make();
    const answer = await send(one);
    expect([answer?.status, answer?.body.length]).toEqual([403, 0]);
    // The service leaves out this header in its answer to a request that no gateway has signed. A gateway that got such an
    // answer would assume that some other program has sent it, and would ask the client to try again.
    expect(answer?.headers).not.toHaveProperty(statusHeader.toLowerCase());
    expect(await world.place.held(owner)).toEqual(before);
    expect((await world.place.store.account(owner)).stored).toBeUndefined();
  });

  it('none of the requests that a gateway has signed, even if the gateway’s clock is 25 s ahead or behind', async () => {
    const user = someone(owner.projectId);
    for (const ahead of [0, 25_000, -25_000]) {
      const context = contextOf(user);
      expect((await send(signed({ ahead, context })))?.status).toBe(201);
      const file = await send(signed({ spec: getFile, ahead }));
      expect(file?.body.toString()).toBe('of somebody');
      expect((await send(signed({ spec: getFile, ahead, method: 'HEAD' })))?.status).toBe(200);
    }
    expect((await world.place.held(user)).rows).toHaveLength(3);
  });
});
