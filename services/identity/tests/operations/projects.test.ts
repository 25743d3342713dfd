import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createProject, getProject, type Project, updateProject } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { dumpStore } from '../support/raw-store.ts';
import { expectInvalid } from '../support/refusals.ts';

const notFound = { error: 'No such project.', code: 'project/not-found' };
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const settings = {
  publicKey: pem,
  limits: { 'identity.sign-in': { max: 5, windowSeconds: 60 }, 'connections.list': null },
  webOrigins: ['https://app.example.org', 'http://localhost:5173'],
  publicProfiles: 'none',
  publicConnections: false,
};
const forced = { id: randomUUID(), createdAt: '2001-01-01T00:00:00.000Z', place: '0', owner: 'eve', rev: 9 };
const bad: [string, unknown][] = [
  ['name', { name: 7 }],
  ['name', { name: ' ' }],
  ['name', { name: null }],
  ['name', { name: 'n'.repeat(201) }],
  ['publicKey', { publicKey: 7 }],
  ['publicKey', { publicKey: [] }],
  ['publicKey', { publicKey: 'no key' }],
  ['publicKey', { publicKey: 'k'.repeat(17_000) }],
  ['publicKey', { publicKey: privatePem }],
  ['publicKey', { publicKey: privateKey.export({ format: 'jwk' }) }],
  ['limits', { limits: null }],
  ['limits', { limits: { 'identity.fly': { max: 1, windowSeconds: 1 } } }],
  ['limits.identity.sign-in.max', { limits: { 'identity.sign-in': { max: 0, windowSeconds: 1 } } }],
  ['limits.identity.sign-in.windowSeconds', { limits: { 'identity.sign-in': { max: 1 } } }],
  ['webOrigins', { webOrigins: 'https://example.org' }],
  ['webOrigins.0', { webOrigins: ['https://example.org/path'] }],
  ['webOrigins.1', { webOrigins: ['https://example.org', 'javascript:alert(1)'] }],
  ['publicProfiles', { publicProfiles: 'yes' }],
  ['publicConnections', { publicConnections: null }],
];

describe.each(handlerEngines())('projects on %s', (engine) => {
  let identity: TestIdentity;
  const post = (body: unknown) => call(identity.bus, createProject, { body });
  const get = (projectId: string) => call(identity.bus, getProject, { params: { projectId } });
  const patch = (projectId: string, body: unknown) =>
    call(identity.bus, updateProject, { params: { projectId }, body });
  const make = async (fields = {}): Promise<Project> => (await post({ name: 'Test', ...fields })).body;

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  test('can be created with only a name, and looked up', async () => {
    const created = await post({ name: '  Café 2 ' });
    expect(created.status).toBe(201);
    const { id, createdAt } = created.body;
    expect(created.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Café 2',
      publicKey: null,
      limits: {},
      webOrigins: [],
      publicProfiles: 'card',
      publicConnections: true,
      storageMib: null,
      externalTokenMaxAge: 3600,
      signUp: 'open',
      requireVerifiedEmail: false,
      mailLinkBase: null,
      mailTexts: {},
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: createdAt,
      deletion: null,
    });
    const found = await get(id.toUpperCase());
    expect(found.status).toBe(200);
    expect(found.body).toEqual(created.body);
  });

  test('are created with every setting', async () => {
    const created = await post({ name: 'All', ...settings });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject(settings);
    expect((await get(created.body.id)).body).toEqual(created.body);
  });

  test('count the lengths of addresses after trimming', async () => {
    const blanks = ' '.repeat(2_048);
    const origin = 'https://app.example.org';
    const page = `${origin}/#/${'x'.repeat(2_048 - origin.length - 3)}`;
    const spaced = { mailLinkBase: `${blanks}${page}`, webOrigins: [`${origin}${blanks}`] };
    expect(await make(spaced)).toMatchObject({ mailLinkBase: page, webOrigins: [origin] });
    for (const [field, error, body] of [
      ['mailLinkBase', 'must be at most 2048 characters long.', { mailLinkBase: `${page}x` }],
      [
        'webOrigins.0',
        'must be at most 300 characters long.',
        { webOrigins: [`${origin}${'x'.repeat(300)}`] },
      ],
    ] as const) {
      const refused = await post({ name: 'x', ...body });
      expect(refused.body).toEqual({ error: `${field} ${error}`, code: 'project/invalid-body', field });
    }
  });

  test('change the given settings and keep the others', async () => {
    const project = await make();
    const named = await patch(project.id, { name: ' New ' });
    expect(named.status).toBe(200);
    expect(named.body).toEqual({ ...project, name: 'New', updatedAt: expect.any(String) });
    const set = await patch(project.id.toUpperCase(), settings);
    expect(set.body).toEqual({ ...named.body, ...settings, updatedAt: expect.any(String) });
    expect((await get(project.id)).body).toEqual(set.body);
    const jwk = publicKey.export({ format: 'jwk' });
    for (const given of [null, jwk]) {
      const { body } = await patch(project.id, { publicKey: given });
      expect(body.publicKey).toBe(given && pem);
    }
    const emptied = await patch(project.id, { publicKey: null, limits: {}, webOrigins: [] });
    expect(emptied.body).toEqual({
      ...set.body,
      publicKey: null,
      limits: {},
      webOrigins: [],
      updatedAt: expect.any(String),
    });
    expect((await get(project.id)).body).toEqual(emptied.body);
  });

  test('refuse a request with an unknown setting, and store nothing of this request', async () => {
    const project = await make();
    const unchanged = await patch(project.id, {});
    expect([unchanged.status, unchanged.body]).toEqual([200, project]);
    for (const [field, value] of Object.entries(forced)) {
      const answers = [
        await patch(project.id, { name: 'Other', [field]: value }),
        await post({ name: 'x', [field]: value }),
      ];
      for (const { status, body } of answers) {
        const error = `${field} is not a field of this endpoint.`;
        expect([status, body]).toEqual([400, { error, code: 'request/unknown-field', field }]);
      }
    }
    const { body } = await patch(project.id, { name: 'New' });
    expect(body).toEqual({ ...project, name: 'New', updatedAt: expect.any(String) });
    const rows = (await dumpStore(identity.store)).projects?.map((row) => JSON.stringify(row));
    // Searches only the row of this project, because public keys of other projects may happen to contain such a short text.
    const stored = rows?.find((row) => row.includes(project.id));
    expect(stored).toContain('New');
    for (const value of ['2001-01-01', 'owner', 'eve', forced.id]) expect(stored).not.toContain(value);
  });

  test('refuse an unknown or misspelt key inside the texts of mails, and keep the stored texts', async () => {
    const text = { subject: 'Hello', text: '{link}' };
    const project = await make({ mailTexts: { passwordReset: text } });
    for (const [key, mailTexts] of [
      ['pasword', { pasword: text }],
      ['passwordReset.body', { passwordReset: { ...text, body: '{link}' } }],
    ] as const) {
      const { status, body } = await patch(project.id, { mailTexts });
      const refusal = { code: 'request/unknown-field', field: `mailTexts.${key}` };
      expect([status, body]).toEqual([400, expect.objectContaining(refusal)]);
    }
    expect((await get(project.id)).body).toEqual(project);
  });

  test.each(bad)('refuse a malformed %s', async (field, body) => {
    const project = await make();
    for (const answer of [await patch(project.id, body), await post({ name: 'x', ...(body as object) })]) {
      expectInvalid(answer, 'project/invalid-body', field);
      expect(answer.text).not.toContain('MII');
    }
    expect((await get(project.id)).body).toEqual(project);
  });

  test('need a name', async () => {
    const { status, body } = await post({});
    expect(status).toBe(400);
    expect(body).toEqual({
      error: expect.stringMatching(/^name /),
      code: 'project/invalid-body',
      field: 'name',
    });
  });

  test('are not found under an unknown or a malformed id', async () => {
    for (const projectId of [randomUUID(), 'none']) {
      for (const answer of [
        await get(projectId),
        await patch(projectId, { name: 'x' }),
        await patch(projectId, {}),
      ]) {
        expect(answer.status).toBe(404);
        expect(answer.body).toEqual(notFound);
      }
    }
    expect((await patch(randomUUID(), { name: 7 })).body.code).toBe('project/invalid-body');
  });

  test('need a JSON object', async () => {
    const project = await make();
    for (const { status, body } of [await post('null'), await patch(project.id, '[]')]) {
      expect(status).toBe(400);
      expect(body).toEqual({ error: 'The body is not a JSON object.', code: 'request/invalid-json' });
    }
  });
});
