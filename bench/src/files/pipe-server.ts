// The server that uploads are compared with. It is plain Node, and pipes the uploaded file of each form to a file.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';

const { FOLDER = '' } = process.env;

const server = createServer((request, response) => {
  const form = busboy({ headers: request.headers });
  let stored: Promise<void> | undefined;
  form.on('file', (_, file) => {
    stored = pipeline(file, createWriteStream(join(FOLDER, randomUUID())));
  });
  form.on('close', async () => {
    await stored;
    response.writeHead(201, { 'Content-Type': 'application/json' }).end('{}');
  });
  request.pipe(form);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${port}` });
});
process.on('SIGTERM', () => process.exit());
