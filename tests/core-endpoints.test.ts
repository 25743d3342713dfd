import { availableEngines, sharedPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, http } from './support/http.ts';
import { ecKey, keyPair, privateKey } from './support/keys.ts';

const json = 'application/json';

describe.each(availableEngines())('core endpoints (%s)', (engine) => {
  let platform: TestPlatform;
  let ada: TestUser;
  let grace: TestUser;
  let stranger: TestUser;
  let scope: string;

  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    const { id } = await platform.createProject();
    const other = await platform.createProject('Other');
    ada = await platform.createUser(id, { name: 'Ada' });
    grace = await platform.createUser(id, { name: 'Grace' });
    stranger = await platform.createUser(other.id);
    scope = `/v7/${id}`;
  });
  afterAll(() => platform?.stop());

  const send = (ask: Ask) => http(platform.url, ask);
  const outcome = async (ask: Ask) => {
    const answer = await send(ask);
    return { status: answer.status, type: answer.headers['content-type'], body: answer.json() };
  };

  describe('sign-testing-jwt (A6)', () => {
    const sign = (body: unknown) =>
      outcome({ method: 'POST', path: `${scope}/crypto/sign-testing-jwt`, body });

    it('signs with RS256 for 300 s', async () => {
      const key = keyPair();
      const payload = { id: 'user-7', name: 'Zoë', role: 'admin', plan: { tier: 2 } };
      const { status, type, body } = await sign({
        projectId: 'my-project',
        privateKey: key.privateKey,
        payload,
      });
      expect([status, type]).toEqual([200, json]);
      const { token } = body as { token: string };
      const verified = await jwtVerify(token, key.publicKey, {
        algorithms: ['RS256'],
        issuer: 'my-project',
        audience: 'kith.dev',
      });
      const { iat = 0, exp = 0, ...claims } = verified.payload;
      expect(exp - iat).toBe(300);
      expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
      expect(claims).toEqual({
        sub: 'user-7',
        iss: 'my-project',
        aud: 'kith.dev',
        name: 'Zoë',
        role: 'admin',
        userData: payload,
      });
    });

    it('takes PKCS#1, and base64 with line breaks', async () => {
      const broken = privateKey({ type: 'pkcs1' }).replaceAll(/(.{64})/g, '$1\r\n');
      const { status } = await sign({ projectId: 'p', privateKey: broken, payload: { id: 'u' } });
      expect(status).toBe(200);
    });

    const userMissing = 'payload.id: The user id is missing from the payload.';
    it.each([
      ['no body', undefined, 'payload', undefined],
      ['payload missing', { projectId: 'p', privateKey: 'k' }, 'payload', undefined],
      ['payload a list', { projectId: 'p', privateKey: 'k', payload: [] }, 'payload', undefined],
      ['id missing', { payload: {} }, 'payload.id', userMissing],
      ['id empty', { payload: { id: '' }, projectId: 'p' }, 'payload.id', userMissing],
      ['id a number', { payload: { id: 7 } }, 'payload.id', userMissing],
      ['projectId missing', { payload: { id: 'u' }, privateKey: 'k' }, 'projectId', undefined],
      ['projectId empty', { payload: { id: 'u' }, projectId: '', privateKey: 'k' }, 'projectId', undefined],
      ['privateKey missing', { payload: { id: 'u' }, projectId: 'p' }, 'privateKey', undefined],
      [
        'privateKey a number',
        { payload: { id: 'u' }, projectId: 'p', privateKey: 1 },
        'privateKey',
        undefined,
      ],
    ])('%s is 400 crypto/missing-params', async (_, body, field, message) => {
      expect(await sign(body)).toEqual({
        status: 400,
        type: json,
        body: { error: message ?? expect.stringContaining(field), code: 'crypto/missing-params', field },
      });
    });

    it('answers 500 with details for a key it can not sign with, and no log holds any part of a key', async () => {
      const keys = {
        ec: ecKey(),
        short: privateKey({ bits: 1024 }),
        'not base64': 'this is not base64 at all, it only pretends to be a key!',
        'not a PEM': Buffer.from('just some text that is long enough to be looked for').toString('base64'),
      };
      for (const [what, key] of Object.entries(keys)) {
        const answer = await sign({ projectId: 'p', privateKey: key, payload: { id: 'u' } });
        expect(answer, what).toEqual({
          status: 500,
          type: json,
          body: {
            error: 'The token could not be signed.',
            code: 'crypto/server-error',
            details: expect.any(String),
          },
        });
        const { details } = answer.body as { details: string };
        for (const part of parts(key)) expect(details).not.toContain(part);
      }
      const good = privateKey();
      await sign({ projectId: 'p', privateKey: good, payload: { id: 'u' } });
      const logs = await platform.logs();
      expect(logs).toContain('crypto.sign-testing-jwt');
      for (const key of [...Object.values(keys), good]) {
        for (const part of parts(key)) expect(logs.includes(part)).toBe(false);
      }
    });

    it('ignores a token that comes along', async () => {
      const { status } = await outcome({
        method: 'POST',
        path: `${scope}/crypto/sign-testing-jwt`,
        token: 'nonsense',
        body: { projectId: 'p', privateKey: privateKey(), payload: { id: 'u' } },
      });
      expect(status).toBe(200);
    });
  });

  describe('rename (A6)', () => {
    const rename = (id: string, body: unknown, token = ada.accessToken) =>
      outcome({ method: 'PATCH', path: `${scope}/collections/${id}`, token, body });

    it('answers the renamed collection, trimmed', async () => {
      const before = await platform.createCollection(ada, 'Before');
      const { status, type, body } = await rename(before.id.toUpperCase(), {
        name: '  Später 📚  ',
        isRoot: true,
      });
      expect([status, type]).toEqual([200, json]);
      expect(body).toEqual({
        ...before,
        name: 'Später 📚',
        updatedAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      });
    });

    it('answers the same bytes for root, another user’s, another project’s, unknown and malformed ids', async () => {
      const root = await platform.call<{ id: string }>('GET', `${scope}/collections/root`, {
        token: ada.accessToken,
      });
      const hers = await platform.createCollection(grace, 'Hers');
      const elsewhere = await platform.createCollection(stranger, 'Elsewhere');
      const ids = [root.id, hers.id, elsewhere.id, '00000000-0000-0000-0000-000000000000', 'nonsense', '%zz'];
      const answers = await Promise.all(
        ids.map((id) =>
          send({
            method: 'PATCH',
            path: `${scope}/collections/${id}`,
            token: ada.accessToken,
            body: { name: 'x' },
          }),
        ),
      );
      const expected = '{"error":"No such collection.","code":"collection/not-found"}';
      expect(answers.map(({ status, text }) => [status, text])).toEqual(ids.map(() => [404, expected]));
    });

    it.each([
      ['missing', {}],
      ['no body', undefined],
      ['null', { name: null }],
      ['a number', { name: 7 }],
      ['blank', { name: '  \t ' }],
      ['too long', { name: 'x'.repeat(201) }],
    ])('name %s is 400 collection/invalid-name, also before a bad id', async (_, body) => {
      const { id } = await platform.createCollection(ada, 'Kept');
      const refused = {
        status: 400,
        type: json,
        body: { error: expect.stringContaining('name'), code: 'collection/invalid-name', field: 'name' },
      };
      expect(await rename(id, body)).toEqual(refused);
      expect(await rename('nonsense', body)).toEqual(refused);
    });

    it('counts code points: 200 emoji pass, 201 do not', async () => {
      const { id } = await platform.createCollection(ada, 'Emoji');
      expect((await rename(id, { name: '😀'.repeat(200) })).status).toBe(200);
      expect((await rename(id, { name: '😀'.repeat(201) })).status).toBe(400);
    });
  });

  describe('list connections (A6)', () => {
    const list = (query: string, token = ada.accessToken) =>
      outcome({ path: `${scope}/connections${query}`, token });

    it('gives the envelope for an empty list', async () => {
      expect(await list('', grace.accessToken)).toEqual({
        status: 200,
        type: json,
        body: {
          connections: [],
          pagination: {
            currentPage: 1,
            totalPages: 0,
            totalCount: 0,
            hasNextPage: false,
            hasPreviousPage: false,
            limit: 20,
          },
        },
      });
    });

    it('gives established connections, newest first, in pages', async () => {
      const me = await platform.createUser(ada.projectId, { name: 'Me' });
      const ids: string[] = [];
      for (const name of ['One', 'Two', 'Three']) {
        const other = await platform.createUser(ada.projectId, { name, username: `other.${name}` });
        ids.unshift(await platform.connect(me, other, `Hello ${name}`));
      }
      const first = await list('?page=1&limit=2', me.accessToken);
      expect(first.body).toEqual({
        connections: [
          {
            id: ids[0],
            connectedUser: expect.objectContaining({
              name: 'Three',
              username: 'other.Three',
              avatar: null,
              reputation: 0,
            }),
            connectedAt: expect.stringMatching(/\.\d{3}Z$/),
            requestedAt: expect.stringMatching(/\.\d{3}Z$/),
            message: 'Hello Three',
          },
          expect.objectContaining({ id: ids[1] }),
        ],
        pagination: {
          currentPage: 1,
          totalPages: 2,
          totalCount: 3,
          hasNextPage: true,
          hasPreviousPage: false,
          limit: 2,
        },
      });
      const second = await list('?page=2&limit=2', me.accessToken);
      expect(second.body).toMatchObject({
        connections: [{ id: ids[2] }],
        pagination: { currentPage: 2, hasNextPage: false, hasPreviousPage: true },
      });
    });

    it('counts a limit over 100 as 100, and a page of any size as past the end', async () => {
      expect((await list('?limit=5000')).body).toMatchObject({ pagination: { limit: 100 } });
      const past = await list(`?page=${'9'.repeat(60)}`);
      expect(past).toMatchObject({
        status: 200,
        body: { connections: [], pagination: { hasNextPage: false, hasPreviousPage: true } },
      });
    });

    it.each([
      ['page', '?page=0'],
      ['page', '?page=-1'],
      ['page', '?page=1.5'],
      ['page', '?page=x'],
      ['page', '?page='],
      ['limit', '?limit=0'],
      ['limit', '?limit=ten'],
      ['page', '?page=1&page=2'],
      ['limit', '?limit=1&limit=1'],
      ['cursor', '?cursor=nonsense'],
    ])('a bad %s is 400 connection/invalid-query: %s', async (field, query) => {
      expect(await list(query)).toEqual({
        status: 400,
        type: json,
        body: { error: expect.stringContaining(field), code: 'connection/invalid-query', field },
      });
    });
  });

  describe('requests and errors (A2–A4)', () => {
    const target = () => ({ method: 'PATCH', path: `${scope}/collections/root`, token: ada.accessToken });
    const envelope = (status: number, code: string, error: string) => ({
      status,
      type: json,
      body: { error, code },
    });

    it.each([
      ['malformed JSON', '{"name":'],
      ['a list', '[]'],
      ['a string', '"x"'],
      ['null', 'null'],
      ['not UTF-8', '\u00ff'],
    ])('%s is 400 request/invalid-json', async (what, body) => {
      // Header and body are written apart, so that the bytes stay what they are.
      const raw = what === 'not UTF-8' ? '{"name":"\ufffd' : body;
      expect(await outcome({ ...target(), body: raw })).toEqual(
        envelope(400, 'request/invalid-json', 'The body is not a JSON object.'),
      );
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
      '%s is 415',
      async (type) => {
        expect(await outcome({ ...target(), body: '{}', headers: { 'content-type': type } })).toEqual(
          envelope(415, 'request/unsupported-media-type', 'Send the body as application/json in UTF-8.'),
        );
      },
    );

    it('a body over 256 KiB is 413, one of exactly 256 KiB is not', async () => {
      const padded = (bytes: number) =>
        `{"name":"x","pad":"${'p'.repeat(bytes - '{"name":"x","pad":""}'.length)}"}`;
      expect(await outcome({ ...target(), body: padded(256 * 1024 + 1) })).toEqual(
        envelope(413, 'request/too-large', 'The body is larger than this endpoint accepts.'),
      );
      expect((await outcome({ ...target(), body: padded(256 * 1024) })).status).toBe(404);
    });

    it.each([
      ['none', {}],
      ['another scheme', { authorization: 'Basic eDp5' }],
      ['nonsense', { authorization: 'Bearer nonsense' }],
      ['unsigned', { authorization: `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.` }],
    ])('token %s is 401 with WWW-Authenticate', async (_, headers) => {
      const answer = await send({ path: `${scope}/connections`, headers });
      expect([
        answer.status,
        answer.json(),
        answer.headers['content-type'],
        answer.headers['www-authenticate'],
      ]).toEqual([
        401,
        { error: 'A valid access token is required.', code: 'auth/unauthorized' },
        json,
        'Bearer',
      ]);
    });

    it('a token of another project is 403', async () => {
      expect(await outcome({ path: `${scope}/connections`, token: stranger.accessToken })).toEqual(
        envelope(403, 'auth/forbidden', 'This token does not allow that.'),
      );
    });

    it('the operator’s endpoints take the operator’s token only', async () => {
      for (const token of [undefined, ada.accessToken, 'wrong']) {
        expect(
          await outcome({
            method: 'POST',
            path: '/admin/projects',
            ...(token ? { token } : {}),
            body: { name: 'x' },
          }),
        ).toEqual(envelope(401, 'auth/unauthorized', 'A valid access token is required.'));
      }
    });

    it('checks route, token and body in this order', async () => {
      const bad = { method: 'PATCH', headers: { 'content-type': 'text/plain' }, body: 'x' };
      expect(await outcome({ ...bad, path: `${scope}/nowhere` })).toMatchObject({ status: 404 });
      expect(await outcome({ ...bad, path: `${scope}/collections/x` })).toMatchObject({ status: 401 });
      expect(await outcome({ ...bad, path: `${scope}/collections/x`, token: ada.accessToken })).toMatchObject(
        {
          status: 415,
        },
      );
    });

    it('echoes a short and safe request id, and makes one otherwise', async () => {
      const ask = (id: string) => send({ path: '/nowhere', headers: { 'x-request-id': id } });
      expect((await ask('abc-123')).headers['x-request-id']).toBe('abc-123');
      expect((await ask('x'.repeat(500))).headers['x-request-id']).toMatch(/^[\w-]{8,64}$/);
      expect((await ask('<script>')).headers['x-request-id']).toMatch(/^[\w-]{8,64}$/);
    });
  });
});

/** Every 20-character window of a key, and of what it decodes to. */
function parts(key: string): string[] {
  const texts = [key, Buffer.from(key, 'base64').toString('latin1')];
  return texts
    .flatMap((text) =>
      Array.from({ length: Math.max(1, text.length - 20) }, (_, index) => text.slice(index, index + 20)),
    )
    .filter((part) => part.trim().length > 16 && !/-----|PRIVATE KEY/.test(part));
}
