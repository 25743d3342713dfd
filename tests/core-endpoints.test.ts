import { availableEngines, sharedPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, http } from './support/http.ts';
import { ecKey, privateKey } from './support/keys.ts';

const json = 'application/json';

// Tests the endpoints of spec#conventions-core. tests/surface tests these endpoints, too. The tests here check only what
// tests/surface does not check: the bytes of bodies and ids, other forms of keys, and the logs.
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

  describe('sign-testing-jwt (spec#test-tokens-sign)', () => {
    const sign = (body: unknown) =>
      outcome({ method: 'POST', path: `${scope}/crypto/sign-testing-jwt`, body });

    it('accepts PKCS#1, and base64 with line breaks', async () => {
      const broken = privateKey({ type: 'pkcs1' }).replaceAll(/(.{64})/g, '$1\r\n');
      const { status } = await sign({ projectId: 'p', privateKey: broken, payload: { id: 'u' } });
      expect(status).toBe(200);
    });

    it('answers 500 with details if a key cannot sign, and no log contains any part of the key', async () => {
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
  });

  describe('rename (spec#collections-rename)', () => {
    it('answers with the same bytes for the root’s id, an id of another user or project, an unknown id, and a malformed id', async () => {
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

    const rename = (id: string, body: unknown) =>
      outcome({ method: 'PATCH', path: `${scope}/collections/${id}`, token: ada.accessToken, body });

    it('if there is no body, reports that the name is missing, even if the id is also invalid', async () => {
      const { id } = await platform.createCollection(ada, 'Kept');
      const refused = {
        status: 400,
        type: json,
        body: { error: expect.stringContaining('name'), code: 'collection/invalid-name', field: 'name' },
      };
      expect(await rename(id, undefined)).toEqual(refused);
      expect(await rename('nonsense', undefined)).toEqual(refused);
      expect(await rename(id, { name: ' ' })).toEqual(refused);
    });

    it('counts the length of a name in code points: a name of 200 emoji is accepted, and a name of 201 emoji is refused', async () => {
      const { id } = await platform.createCollection(ada, 'Emoji');
      expect((await rename(id, { name: '😀'.repeat(200) })).status).toBe(200);
      expect((await rename(id, { name: '😀'.repeat(201) })).status).toBe(400);
    });
  });

  it('a body that is not UTF-8 gets 400 request/invalid-json', async () => {
    const { id } = await platform.createCollection(ada, 'Before');
    const patch = (body: Uint8Array) =>
      outcome({ method: 'PATCH', path: `${scope}/collections/${id}`, token: ada.accessToken, body });
    const [before = '', after = ''] = JSON.stringify({ name: '|' }).split('|');
    const named = (...bytes: number[]) =>
      Buffer.from([...Buffer.from(before), ...bytes, ...Buffer.from(after)]);
    expect((await patch(named(0xc3, 0xa4))).body).toMatchObject({ name: 'ä' });
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
      expect(await patch(named(...bytes))).toEqual({
        status: 400,
        type: json,
        body: { error: 'The body is not a JSON object.', code: 'request/invalid-json' },
      });
    }
  });
});

/**
 * Returns all pieces of 20 successive characters of a key. Also decodes the key from base64, and returns all such pieces of the
 * decoded bytes. None of these pieces may appear in an answer or in a log.
 */
function parts(key: string): string[] {
  const texts = [key, Buffer.from(key, 'base64').toString('latin1')];
  return texts
    .flatMap((text) =>
      Array.from({ length: Math.max(1, text.length - 20) }, (_, index) => text.slice(index, index + 20)),
    )
    .filter((part) => part.trim().length > 16 && !/-----|PRIVATE KEY/.test(part));
}
