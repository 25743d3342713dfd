import { randomUUID } from 'node:crypto';
import {
  createProject,
  deleteProject,
  getProject,
  getProjectLean,
  listProjects,
  type OperationSpec,
  updateProject,
} from '@kith/contracts';
import { beforeAll, expect, it } from 'vitest';
import { keyPair } from '../support/keys.ts';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const publicKey = keyPair().publicKey;
const pem = publicKey.export({ type: 'spki', format: 'pem' });
const limit = { max: 5, windowSeconds: 60 };
/** Values that are refused for a setting, each with its field. */
const bad: [field: string, value: unknown][] = [
  ['name', 7],
  ['name', ' '],
  ['name', 'x'.repeat(201)],
  ['publicKey', 7],
  ['publicKey', 'no key'],
  ['publicKey', 'x'.repeat(16 * 1024 + 1)],
  ['limits', []],
  ['limits', { 'no.operation': limit }],
  ['webOrigins', 'https://app.example.org'],
  ['publicProfiles', 'yes'],
  ['publicConnections', 1],
  ['storageMib', -1],
  ['externalTokenMaxAge', 3599],
  ['externalTokenMaxAge', 86_401],
  ['signUp', 'maybe'],
  ['requireVerifiedEmail', 'yes'],
  ['mailLinkBase', 'app.example.org'],
  ['mailLinkBase', 'javascript:alert(1)'],
  ['mailTexts', 'Hello'],
];
/** Bad values inside settings. The field is the path to the bad value. */
const badInside: [field: string, body: unknown][] = [
  ['limits.identity.sign-in.max', { limits: { 'identity.sign-in': { max: 0, windowSeconds: 1 } } }],
  ['webOrigins.0', { webOrigins: ['https://app.example.org/path'] }],
  ...(
    [
      ['subject', { subject: 'Two\nlines', text: '{link}' }],
      ['subject', { subject: '{token}', text: '{link}' }],
      ['subject', { subject: 'Hello {nobody}', text: '{link}' }],
      ['text', { subject: 'Hello', text: 'There is no way to go on.' }],
      ['text', { subject: 'Hello', text: '{link} {nobody}' }],
      ['text', { subject: 'Hello', text: '{link}\u0000' }],
    ] as const
  ).map(([field, passwordReset]): [string, unknown] => [
    `mailTexts.passwordReset.${field}`,
    { mailTexts: { passwordReset } },
  ]),
];
/** Unknown keys inside settings. */
const misspelt: [field: string, body: unknown][] = [
  ['limits.identity.sign-in.window', { limits: { 'identity.sign-in': { ...limit, window: 1 } } }],
  ['mailTexts.pasword', { mailTexts: { pasword: { subject: 'Hello', text: '{link}' } } }],
  [
    'mailTexts.passwordReset.body',
    { mailTexts: { passwordReset: { subject: 'Hello', text: '{link}', body: '{link}' } } },
  ],
];

export const projects = surfaceSuite('projects', (world) => {
  let token: string;
  beforeAll(() => {
    token = world.operatorToken;
  });
  const of = (projectId: string) => ({ token, params: { projectId } });
  const create = async (body: unknown) => (await world.ok(createProject, { token, body })).body;

  it('every operation checks the operator’s token before all else', () =>
    refusesStrangers(world, features.projects.operations));

  it('a project is created with defaults or with the given settings', async () => {
    const made = await create({ name: ' Проект ' });
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Проект',
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
      createdAt: expect.any(String),
      updatedAt: made.createdAt,
      deletion: null,
    });
    const given = {
      name: 'Whole',
      limits: { 'identity.sign-in': limit, 'identity.sign-up': null },
      webOrigins: ['https://app.example.org'],
      publicProfiles: 'none',
      publicConnections: false,
      storageMib: 7,
      externalTokenMaxAge: 7200,
      signUp: 'closed',
      requireVerifiedEmail: true,
      mailLinkBase: 'https://app.example.org/#/mail',
      mailTexts: {
        verificationCode: { subject: 'Dein Code', text: 'Hallo {address},\n\n{code} ist dein Code.' },
      },
    };
    const jwk = publicKey.export({ format: 'jwk' });
    expect(await create({ ...given, publicKey: jwk })).toMatchObject({ ...given, publicKey: pem });
  });

  const both: [string, OperationSpec][] = [
    ['a project to be made', createProject],
    ['a change', updateProject],
  ];
  it.each(both)('%s is refused for invalid settings, before the project is looked up', async (_, spec) => {
    const given = of('nonsense');
    for (const [field, value] of bad.filter(([one]) => one !== 'publicKey' && one !== 'limits')) {
      await world.refused(spec, { ...given, body: { name: 'x', [field]: value } }, 'project/invalid-body', {
        field,
      });
    }
    for (const [field, value] of bad) {
      const body = { name: 'x', [field]: value };
      await world.refused(spec, { ...of(randomUUID()), body }, 'project/invalid-body', { field });
    }
    for (const [field, body] of badInside) {
      const named = { name: 'x', ...(body as object) };
      await world.refused(spec, { ...given, body: named }, 'project/invalid-body', { field });
    }
    for (const [field, body] of misspelt) {
      const named = { name: 'x', ...(body as object) };
      await world.refused(spec, { ...given, body: named }, 'request/unknown-field', { field });
    }
  });

  it('a project without a name is refused; a private key instead of a public key is refused, too, and is not repeated in the answer', async () => {
    await world.refused(createProject, { token, body: {} }, 'project/invalid-body', { field: 'name' });
    const { privateKey } = keyPair();
    const secret = Buffer.from(privateKey, 'base64').toString();
    const body = { name: 'x', publicKey: secret };
    const refused = await world.refused(createProject, { token, body }, 'project/invalid-body', {
      field: 'publicKey',
    });
    expect(refused.text).not.toContain(secret.slice(40, 60));
  });

  it('a project can be read and changed; settings that are not sent stay as they are', async () => {
    const made = await create({ name: 'Before', publicKey: pem });
    expect((await world.ok(getProject, of(made.id.toUpperCase()))).body).toEqual(made);
    const changes = { name: 'After', publicProfiles: 'all', limits: { 'connections.list': limit } };
    const changed = { ...made, ...changes, updatedAt: expect.any(String) };
    expect((await world.ok(updateProject, { ...of(made.id), body: changes })).body).toEqual(changed);
    const removed = await world.ok(updateProject, { ...of(made.id), body: { publicKey: null } });
    expect(removed.body).toEqual({ ...changed, publicKey: null });
    expect((await world.ok(updateProject, of(made.id))).body).toEqual(removed.body);
    expect((await world.ok(getProject, of(made.id))).body).toEqual(removed.body);
    for (const id of ['nonsense', randomUUID()]) {
      await world.refused(getProject, of(id), 'project/not-found');
      await world.refused(updateProject, of(id), 'project/not-found');
      await world.refused(updateProject, { ...of(id), body: { name: 'x' } }, 'project/not-found');
    }
  });

  it('a project is deleted once, and shows the progress of its deletion', async () => {
    const made = await create({ name: 'Short-lived' });
    const deleted = { id: made.id, status: 'deleting' };
    expect((await world.ok(deleteProject, of(made.id.toUpperCase()))).body).toEqual(deleted);
    const { body } = await world.ok(getProject, of(made.id));
    expect(body).toEqual({ ...made, deletion: { since: expect.any(String), usersLeft: 0 } });
    expect((await world.ok(deleteProject, of(made.id))).body).toEqual(deleted);
    expect((await world.ok(getProject, of(made.id))).body).toEqual(body);
    await world.refused(updateProject, { ...of(made.id), body: { name: 'x' } }, 'project/not-found');
    await world.refused(getProjectLean, { projectId: made.id }, 'project/not-found');
    const { data } = (await world.ok(listProjects, { token })).body;
    expect(data.map(({ id }) => id)).not.toContain(made.id);
    expect((await create({ name: 'Short-lived' })).id).not.toBe(made.id);
    for (const id of ['nonsense', randomUUID()]) {
      await world.refused(deleteProject, of(id), 'project/not-found');
    }
  });

  it('projects are listed, newest first', async () => {
    const made = await create({ name: 'Newest' });
    const { body } = await world.ok(listProjects, { token });
    expect(body.data[0]).toEqual(made);
    expect(body.pagination).toMatchObject({ page: 1, pageSize: 20, totalItems: body.data.length });
    await walksList(world, listProjects, { token }, { rows: ({ data }) => data, max: 100 });
    await refusesTwice(world, listProjects, { token });
  });

  it('older clients can read a project before a user has signed in', async () => {
    const { id } = await create({ name: 'Lean' });
    for (const given of [{}, { token: 'null' }]) {
      const { body } = await world.ok(getProjectLean, { projectId: id, ...given });
      expect(body).toEqual({ id, name: 'Lean', integrations: [] });
    }
    await world.refused(getProjectLean, { projectId: randomUUID() }, 'project/not-found');
  });
});
