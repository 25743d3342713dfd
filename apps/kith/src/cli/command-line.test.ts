import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from './command-line.ts';

test('a proxy that refuses a command is not taken for Kith, which refuses the operator’s token', async () => {
  const server = createServer((_request, response) => response.writeHead(401).end('<html>Sign in</html>'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const env = {
    KITH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OPERATOR_TOKEN: 'token',
  };
  let said = '';
  const stderr = { write: (text: string) => (said += text) };
  const code = await runCommandLine(['operators', 'list'], { env, stdout: stderr, stderr });
  const sentence =
    'GET /admin/operators?limit=100 answered 401, and this answer does not come from Kith. Check the address: a proxy may have answered.';
  expect([code, said]).toEqual([1, `kith: ${sentence}\n`]);
});
