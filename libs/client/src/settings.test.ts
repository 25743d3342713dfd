import { describe, expect, it } from 'vitest';
import { type ClientOptions, createClient } from './client.ts';
import { createOperatorClient } from './operator.ts';

const url = 'https://api.example.org';
const projectId = '0b9e5c1e-6c0f-4d0e-9f0a-2b1c3d4e5f60';
const at = (options: Record<string, unknown>) => () => createClient(options as unknown as ClientOptions);

describe('createClient', () => {
  it.each([
    undefined,
    null,
    '',
    'api.example.org',
    'localhost:8080',
    '/api',
    'ftp://api.example.org',
    'https://',
    'https://api.example.org/?project=1',
    'https://api.example.org/#top',
    'https://ada@api.example.org',
    'https://:correct-horse@api.example.org',
  ])('refuses %j as url, and so does the client for operators', (wrong) => {
    const refusal = new TypeError('url must be an address such as "https://api.example.org".');
    expect(at({ url: wrong, projectId })).toThrow(refusal);
    expect(() => createOperatorClient({ url: wrong as string, token: 'token' })).toThrow(refusal);
  });

  it('does not quote the address in its error, because the address may contain a password', () => {
    const secret = 'htp://ada:correct-horse@api.example.org';
    expect(at({ url: secret, projectId })).toThrow(/^(?!.*correct-horse)url must be/);
  });

  it.each([undefined, null, '', 'shop', `${projectId}0`, ` ${projectId}`])(
    'refuses %j as projectId',
    (wrong) => {
      const sentence = `projectId must be the UUID of a project, not "${wrong}".`;
      expect(at({ url, projectId: wrong })).toThrow(new TypeError(sentence));
    },
  );

  it.each([url, 'http://127.0.0.1:8080/', 'http://[::1]:8080', 'https://example.org/social'])(
    'sends its calls below %s',
    async (good) => {
      const sent: string[] = [];
      const fetch: ClientOptions['fetch'] = async (address) => {
        sent.push(address);
        return Response.json({ count: 1 });
      };
      const id = projectId.toUpperCase();
      const kith = createClient({ url: good, projectId: id, fetch });
      await kith.connections.countOfUser({ userId: projectId });
      expect(sent).toEqual([`${good.replace(/\/$/, '')}/v7/${id}/users/${projectId}/connections-count`]);
    },
  );
});
