import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { Pace, type SentRows, sendRows } from './send.ts';

/** A server with the given answers, and a function that sends rows to it. */
async function serve(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pace = new Pace({ rows: 1_000, pauseMs: 1 });
  const access = { url, token: 'token' };
  const sending = { access, path: '/', file: '', pace, signal: new AbortController().signal };
  return {
    url,
    send: (rows: readonly object[]): Promise<SentRows> =>
      sendRows(
        rows.map((row) => JSON.stringify(row)),
        sending,
      ),
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

/** A platform that answers in time only if a request has at most `most` rows. It rejects every tenth row. */
async function slowPlatform(most: number) {
  const answered: number[] = [];
  const sizes: number[] = [];
  const server = await serve(async (request, response) => {
    const { rows }: { rows: { n: number }[] } = JSON.parse(await text(request));
    sizes.push(rows.length);
    if (rows.length > most)
      return response.writeHead(504).end(JSON.stringify({ error: 'Late.', code: 'gateway/timeout' }));
    answered.push(...rows.map(({ n }) => n));
    const rejected = rows.flatMap(({ n }, row) => (n % 10 === 0 ? [{ row, reason: 'conflict' }] : []));
    const result = { imported: rows.length - rejected.length, unchanged: 0, rejected };
    return response.end(JSON.stringify(result));
  });
  const send = (from: number, count: number) =>
    server.send(Array.from({ length: count }, (_, index) => ({ n: from + index })));
  return { ...server, answered, sizes, send };
}

test('rows that are not answered in time are sent again in smaller parts, and later rows start with such parts', async () => {
  await using platform = await slowPlatform(400);
  const first = await platform.send(0, 1_000);
  expect(platform.sizes).toEqual([1_000, 500, 250, 275, 303, 172]);
  expect(platform.answered).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  expect(first.imported).toBe(900);
  // The number of a rejected row is its position among all rows, not its position in the request.
  expect(first.rejected.map(({ row }) => row)).toEqual(Array.from({ length: 100 }, (_, n) => 10 * n));
  await platform.send(1_000, 500);
  expect(platform.sizes.slice(6)).toEqual([334, 166]);
});

test('parts can become as small as a single row', async () => {
  await using platform = await slowPlatform(1);
  const all = await platform.send(0, 3);
  expect(platform.sizes).toEqual([3, 2, 1, 2, 1, 1]);
  expect(all).toMatchObject({ imported: 2, rejected: [{ row: 0, reason: 'conflict' }] });
});

test('rows are sent again if their answer breaks off', async () => {
  const answer = JSON.stringify({ imported: 1, unchanged: 0, rejected: [] });
  let requests = 0;
  await using platform = await serve((_request, response) => {
    response.setHeader('content-length', answer.length);
    if (++requests > 1) response.end(answer);
    else response.write(answer.slice(0, 9), () => response.destroy());
  });
  expect(await platform.send([{}])).toEqual({ imported: 1, unchanged: 0, rejected: [] });
  expect(requests).toBe(2);
});

test('requests have more rows as long as answers are quick, and fewer rows after a slow answer', () => {
  const pace = new Pace();
  const sizes = [100, 1_000, 100, 100, 100, 6_000, 100].map((tookMs) => {
    pace.answered(pace.rows, tookMs);
    return pace.rows;
  });
  expect(sizes).toEqual([200, 300, 600, 1_000, 1_000, 250, 275]);
  // A quick answer to a small request, such as the rest of a batch, does not show that larger requests would be quick.
  pace.answered(40, 10);
  expect(pace.rows).toBe(275);
});

test('more requests are under way after a complete batch was answered quickly, until an answer is slow', () => {
  const pace = new Pace();
  const answers: [rows: number, tookMs: number, batch: number][] = [
    // The request has only a part of its batch.
    [100, 10, 1_000],
    // With twice as many requests, a complete batch would take too long.
    [1_000, 800, 1_000],
    [1_000, 700, 1_000],
    [1_000, 1_400, 1_000],
    [1_000, 1_600, 1_000],
    // The platform may be slow because so many requests were under way, so their number does not rise again.
    [1_000, 700, 1_000],
  ];
  const atOnce = answers.map((answer) => {
    pace.answered(...answer);
    return pace.atOnce;
  });
  expect(atOnce).toEqual([4, 4, 8, 8, 4, 4]);
});

test('an answer that is not from Kith ends the import with a message that says so', async () => {
  await using proxy = await serve((_request, response) => response.end('<html>Sign in</html>'));
  const message = 'POST / answered 200, and this answer does not come from Kith';
  await expect(proxy.send([{ n: 1 }])).rejects.toThrow(message);
});

test('a redirect to another server ends the import at once, and this server gets no rows', async () => {
  let asked = 0;
  await using other = await serve((_request, response) => {
    asked++;
    response.end(JSON.stringify({ imported: 1, unchanged: 0, rejected: [] }));
  });
  await using proxy = await serve((_request, response) =>
    response.writeHead(308, { location: `${other.url}/` }).end(),
  );
  const message = `${proxy.url} redirects to ${other.url}. Name that address instead.`;
  await expect(proxy.send([{ n: 1 }])).rejects.toThrow(message);
  expect(asked).toBe(0);
});
