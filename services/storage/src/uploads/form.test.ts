import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFile } from '@kith/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FormFile, readForm } from './form.ts';

const mebibyte = 1024 * 1024;
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Reads a file as slowly as a slow store would. The reader no longer needs a chunk when it asks for the next chunk. */
async function readSlowly({ bytes }: FormFile): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of bytes) {
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    digest.update(chunk);
    chunk.fill(0);
  }
  return digest.digest('hex');
}

const server = createServer(async (request, response) => {
  const { fields, taken } = await readForm(request, createFile.upload, readSlowly);
  response.end(JSON.stringify({ fields, taken }));
});
let url = '';

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

// A block has one mebibyte, and an incoming piece has 64 KiB. So these lengths are just below, at and above the limits of
// blocks and pieces.
it.each([0, 1, 65_535, mebibyte - 1, mebibyte, mebibyte + 1, 5 * mebibyte + 7])(
  'reads a whole file of %i bytes, and the fields before and after it, even if the reader is slow',
  async (size) => {
    const bytes = randomBytes(size);
    const form = new FormData();
    form.append('before', 'one');
    form.append('file', new Blob([bytes]), 'name');
    form.append('after', 'two');
    const answers = await Promise.all(
      Array.from({ length: 3 }, async () => (await fetch(url, { method: 'POST', body: form })).json()),
    );
    const whole = { fields: { before: 'one', after: 'two' }, taken: digestOf(bytes) };
    expect(answers).toEqual([whole, whole, whole]);
  },
);

it('loses no bytes that look like the boundary', async () => {
  const boundary = 'the-boundary';
  const almost = Buffer.from(`\r\n--the-boundar\r\n--the-bounda\r\n-\r`.repeat(60_000));
  const body = Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n\r\n`),
    almost,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  const answer = await fetch(url, { method: 'POST', headers, body });
  expect(await answer.json()).toEqual({ fields: {}, taken: digestOf(almost) });
});

/** A request whose pieces arrive one by one, as they do over a network. */
function requestOf(pieces: readonly string[]): IncomingMessage {
  async function* inTurn() {
    for (const piece of pieces) {
      await nextTurn();
      yield Buffer.from(piece);
    }
  }
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  return Object.assign(Readable.from(inTurn()), { headers, complete: true }) as unknown as IncomingMessage;
}

it('finds the boundary, no matter at which byte it is cut into two pieces', async () => {
  const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n\r\n`;
  const file = 'x'.repeat(1_000);
  const end = '\r\n--b--\r\n';
  for (let cut = 1; cut < end.length; cut++) {
    const pieces = [head, file, file, file + end.slice(0, cut), end.slice(cut)];
    const form = await readForm(requestOf(pieces), createFile.upload, readSlowly);
    const taken = digestOf(Buffer.from(file.repeat(3)));
    expect(form, `cut after ${cut} bytes`).toEqual({ fields: {}, taken });
  }
});

const headOf = (name: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="file"\r\n\r\n`;

it.each([
  ['a file under another name', [headOf('other'), 'abc']],
  ['a second file', [`${headOf('file')}abc\r\n${headOf('file')}`, 'abc', 'abc']],
])('refuses a form that ends within a part that is not read: %s', async (_, pieces) => {
  const request = requestOf(pieces);
  await expect(readForm(request, createFile.upload, readSlowly)).rejects.toMatchObject({
    code: 'request/invalid-multipart',
  });
  // After every refusal, the rest of the form is read and dropped. An error in the rest must not end the process.
  request.resume();
  await once(request, 'close');
  await nextTurn();
});

const fieldOf = (value: string) =>
  `--b\r\nContent-Disposition: form-data; name="quality"\r\n\r\n${value}\r\n`;

it.each([
  ['a field twice', fieldOf('1').repeat(2)],
  ['a field that is too long', fieldOf('1'.repeat(5_000))],
  ['a part with a wrong head', '--b\r\nno header\r\n\r\nabc\r\n'],
])('refuses a form with %s before its file, and does not take the file', async (_, before) => {
  let isTaken = false;
  const take = async (file: FormFile) => {
    isTaken = true;
    return readSlowly(file);
  };
  const request = requestOf([`${before}${headOf('file')}abc`, 'abc', 'abc\r\n--b--\r\n']);
  await expect(readForm(request, createFile.upload, take)).rejects.toMatchObject({
    code: 'request/invalid-multipart',
  });
  request.resume();
  await once(request, 'close');
  expect(isTaken).toBe(false);
});

it.each([[[`${headOf('file')}--b\r\n--\r\n--b--\r\n`]], [[`${headOf('file')}--b`, '\r\n--\r\n--b--\r\n']]])(
  'refuses a form whose file has no end: %j',
  async (pieces) => {
    // The line break before the boundary already ends the head of the part. So the parser finds no end of the file.
    await expect(readForm(requestOf(pieces), createFile.upload, readSlowly)).rejects.toMatchObject({
      code: 'request/invalid-multipart',
    });
  },
);

it('takes a part as the file only if the part has a file name', async () => {
  const nameless = (name: string, filename: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${filename}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const parts = [nameless('file', '; filename=""'), nameless('file', ''), headOf('sizes'), headOf('file')];
  const pieces = [...parts.flatMap((head, at) => [head, `${at}\r\n`]), '--b--\r\n'];
  const form = await readForm(requestOf(pieces), createFile.upload, readSlowly);
  expect(form).toEqual({ fields: { file: null, sizes: null }, taken: digestOf(Buffer.from('3')) });
  const none = [nameless('file', '; filename=""'), '\r\n--b--\r\n'];
  await expect(readForm(requestOf(none), createFile.upload, readSlowly)).rejects.toMatchObject({
    code: 'storage/no-file',
  });
});

it('refuses a field after the file if the file has to be last', async () => {
  const late = '\r\n--b\r\nContent-Disposition: form-data; name="kind"\r\n\r\nimage\r\n--b--\r\n';
  const upload = { ...createFile.upload, fileLast: true } as const;
  await expect(readForm(requestOf([headOf('file'), 'abc', late]), upload, readSlowly)).rejects.toMatchObject({
    ...{ code: 'request/invalid-multipart', message: 'The file must be the last part of the form.' },
  });
});
