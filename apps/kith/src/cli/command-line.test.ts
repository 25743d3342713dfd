import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from './command-line.ts';
import { commands } from './commands/index.ts';
import { readWords } from './read-words.ts';

/** Runs a command on a server that gives these answers. Returns the exit code, and what the command has printed. */
async function runOn(answer: RequestListener, words: readonly string[]): Promise<[number, string]> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const env = {
    KITH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OPERATOR_TOKEN: 'token',
  };
  let said = '';
  const stderr = { write: (text: string) => (said += text) };
  return [await runCommandLine(words, { env, stdout: stderr, stderr }), said];
}

test('if a proxy refuses a command, the message does not say that Kith has refused the operator’s token', async () => {
  const proxy: RequestListener = (_request, response) => response.writeHead(401).end('<html>Sign in</html>');
  const sentence =
    'GET /admin/operators?limit=100 answered 401, and this answer does not come from Kith. Check the address: a proxy may have answered.';
  expect(await runOn(proxy, ['operators', 'list'])).toEqual([1, `kith: ${sentence}\n`]);
});

const of = ['--project', 'one'];

test.each([
  ['Name the project id.', ['projects', 'show', '']],
  ['Name the project id.', ['projects', 'delete', '', '--yes']],
  ['Name the project id.', ['projects', 'update', '.', '--name', 'x']],
  ['Name the user id.', ['users', 'update', '..', '--role', 'x', ...of]],
  ['Name the key id.', ['server-keys', 'delete', '..', ...of]],
  ['Name the key id.', ['operators', 'delete', '.']],
  ['Name the file id.', ['files', 'delete', '..', '--yes', ...of]],
  ['Name the folder.', ['backup', '']],
  ['--project is needed.', ['users', 'list', '--project', '']],
  ['--project must be an id.', ['users', 'suspend', 'a', '--project', '..']],
  ['--project is empty.', ['erase-again', '--erased', 'list', '--project', '']],
  [
    '--project is empty.',
    ['operators', 'create', '--name', 'x', '--scope', 'users:read', ...of, '--project', ''],
  ],
  ['--web-origin is empty.', ['projects', 'create', '--name', 'x', '--web-origin', '']],
])('the command says %s and sends no request if a word names nothing: %j', async (sentence, words) => {
  const asked: (string | undefined)[] = [];
  const server: RequestListener = ({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    response.end('{}');
  };
  const said = await runOn(server, words);
  expect([said, asked]).toEqual([[2, expect.stringContaining(`kith: ${sentence} See kith `)], []]);
});

test.each([
  ['restore', '.'],
  ['backup', '..'],
])('a folder may be named by dots: kith %s %s', (name, folder) => {
  const command = commands.find((one) => one.name === name)!;
  expect(readWords(command, [folder]).words).toEqual([folder]);
});
