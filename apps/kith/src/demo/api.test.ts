import { createServer } from 'node:http';
import { StartError } from '@kith/base';
import { freePort } from '@kith/engines';
import { describe, expect, it } from 'vitest';
import { answering } from './api.ts';

describe('answering', () => {
  it('waits for a gateway that does not listen yet', async () => {
    const port = await freePort();
    const answered = answering(`http://127.0.0.1:${port}`, 30_000);
    // The connection is refused now, because the server does not listen yet.
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    const server = createServer((_request, response) => response.writeHead(404).end('{}')).listen(port);
    await expect(answered).resolves.toBeUndefined();
    server.close();
  });

  it('says so when nothing ever answers', async () => {
    await expect(answering(`http://127.0.0.1:${await freePort()}`, 0)).rejects.toThrow(StartError);
  });
});
