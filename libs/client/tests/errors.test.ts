import { generateKeyPairSync } from 'node:crypto';
import { errors } from '@kith/contracts';
import { startPlatform, type TestPlatform } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import {
  createClient,
  type ErrorCodeOf,
  isKithError,
  type KithClient,
  KithError,
  type KithErrorCode,
} from '../src/index.ts';
import { createOperatorClient } from '../src/operator.ts';

let platform: TestPlatform;
let ada: KithClient;
let grace: KithClient;
const idOf = (kith: KithClient) => kith.session?.user.id ?? '';
beforeAll(async () => {
  platform = await startPlatform();
  const of = async (name: string) => platform.client(await platform.createUser({ name }));
  ada = await of('Ada');
  grace = await of('Grace');
});
afterAll(() => platform.stop());

const nobody = '00000000-0000-4000-8000-000000000000';
const password = 'correct horse';
const email = 'taken@example.com';

/** The calls that the platform refuses. Each entry has the code and the field of the refusal, and then the call. */
const refusals: [KithErrorCode, string | undefined, () => PromiseLike<unknown>][] = [
  ['auth/invalid-body', 'email', () => ada.auth.signUp({ email: 'nobody', password })],
  ['auth/weak-password', 'password', () => ada.auth.signUp({ email, password: 'short' })],
  ['auth/invalid-credentials', undefined, () => ada.auth.signIn({ email: 'no@example.com', password })],
  ['auth/missing-keys', undefined, () => ada.auth.verifyExternalUser({ userJwt: 'x.y.z' })],
  ['auth/session-not-found', undefined, () => ada.auth.deleteSession({ sessionId: nobody })],
  ['auth/forbidden', undefined, () => ada.users.update({ userId: idOf(grace), bio: 'Hers' })],
  ['user/not-found', undefined, () => ada.users.getByUsername({ username: 'nobody' })],
  ['user/invalid-body', 'bio', () => ada.users.update({ userId: idOf(ada), bio: 'x'.repeat(301) })],
  ['user/invalid-query', 'username', () => ada.users.checkUsername({ username: '?' })],
  ['collection/not-found', undefined, () => ada.collections.rename({ collectionId: nobody, name: 'x' })],
  [
    'collection/invalid-query',
    'limit',
    () => ada.collections.listEntities({ collectionId: nobody, limit: 0 }),
  ],
  [
    'collection/invalid-parent',
    undefined,
    () => ada.collections.createSubCollection({ collectionId: nobody, collectionName: 'x' }),
  ],
  [
    'collection/invalid-name',
    'collectionName',
    () => ada.collections.createSubCollection({ collectionId: nobody, collectionName: ' ' }),
  ],
  ['connection/self-request', undefined, () => ada.connections.request({ userId: idOf(ada) })],
  ['connection/user-not-found', undefined, () => ada.connections.request({ userId: nobody })],
  ['connection/self-block', undefined, () => ada.connections.block({ userId: idOf(ada) })],
  ['connection/invalid-query', 'cursor', () => ada.connections.list({ cursor: 'made-up' })],
  ['app-notification/not-found', undefined, () => ada.notifications.markAsRead({ notificationId: nobody })],
  [
    'crypto/missing-params',
    'payload.id',
    () => ada.crypto.signTestingJwt({ payload: { id: '' }, projectId: 'p', privateKey: 'k' }),
  ],
];

describe('a refusal', () => {
  it.each(refusals)('is the error %s', async (code, field, act) => {
    const error = await Promise.resolve(act()).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(KithError);
    const { status, message } = errors[code as keyof typeof errors];
    expect(error).toMatchObject({
      name: 'KithError',
      status,
      code,
      field,
      requestId: expect.stringMatching(/./),
    });
    expect((error as KithError).message).not.toBe('');
    if (!field) expect((error as KithError).message).toBe(message);
    expect(isKithError(error, code)).toBe(true);
    expect(isKithError(error, 'gateway/timeout')).toBe(false);
  });

  it('names the field whose value another user already has', async () => {
    const other = createClient({ url: platform.url, projectId: platform.project.id });
    await other.auth.signUp({ email, password, username: 'taken.name' });
    await expect(ada.auth.signUp({ email, password })).rejects.toMatchObject({
      status: 409,
      code: 'DUPLICATE_EMAIL',
      field: 'email',
    });
    await expect(ada.users.update({ userId: idOf(ada), username: 'TAKEN.name' })).rejects.toMatchObject({
      status: 409,
      code: 'DUPLICATE_USERNAME',
      field: 'username',
    });
  });

  it('says why two users cannot connect at the moment', async () => {
    const request = await ada.connections.request({ userId: idOf(grace), message: 'Hello' });
    await expect(ada.connections.request({ userId: idOf(grace) })).rejects.toMatchObject({
      code: 'connection/request-pending',
    });
    await expect(ada.connections.accept({ connectionId: request.id })).rejects.toMatchObject({
      status: 403,
      code: 'connection/unauthorized',
    });
    await grace.connections.accept({ connectionId: request.id });
    await expect(grace.connections.request({ userId: idOf(ada) })).rejects.toMatchObject({
      code: 'connection/already-connected',
    });
    await grace.connections.block({ userId: idOf(ada) });
    await expect(ada.connections.request({ userId: idOf(grace) })).rejects.toMatchObject({
      code: 'connection/not-allowed',
    });
  });

  it('has the code project/not-found if the project does not exist', async () => {
    const at = (projectId: string) =>
      createClient({ url: platform.url, projectId }).auth.signIn({ email, password });
    await expect(at(nobody)).rejects.toMatchObject({ status: 404, code: 'project/not-found' });
  });

  it('contains no token in any printed form', async () => {
    const error = await ada.collections
      .rename({ collectionId: nobody, name: 'x' })
      .catch((failure) => failure);
    const printed = `${JSON.stringify(error)}${(error as Error).stack}${Object.entries(error)}`;
    expect(printed).not.toContain(ada.session?.accessToken);
  });
});

describe('operators', () => {
  it('have their own client', async () => {
    const kith = createOperatorClient({ url: platform.url, token: platform.operatorToken });
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const project = await kith.projects.create({ name: 'Shop', publicKey: pem });
    expect((await kith.projects.update({ projectId: project.id, name: 'Store' })).name).toBe('Store');

    const shopper = createClient({ url: platform.url, projectId: project.id });
    const key = Buffer.from(privateKey.export({ format: 'pem', type: 'pkcs8' })).toString('base64');
    const payload = { id: 'user-1', name: 'Ada' };
    const { token } = await shopper.crypto.signTestingJwt({
      projectId: project.id,
      privateKey: key,
      payload,
    });
    const { user } = await shopper.auth.verifyExternalUser({ userJwt: token });
    expect(user).toMatchObject({ foreignId: 'user-1', name: 'Ada' });

    const names: (string | null)[] = [];
    for await (const { name } of kith.projects.listUsers({ projectId: project.id })) names.push(name);
    expect(names).toEqual(['Ada']);
    expect((await kith.users.suspend({ projectId: project.id, userId: user.id })).isActive).toBe(false);
    await expect(shopper.auth.verifyExternalUser({ userJwt: token })).rejects.toMatchObject({
      code: 'auth/suspended',
    });
  });

  it('are refused without their token', async () => {
    const kith = createOperatorClient({ url: platform.url, token: 'a guess' });
    await expect(kith.projects.list()).rejects.toMatchObject({ status: 401, code: 'auth/unauthorized' });
  });
});

it('isKithError narrows the code of an error to the given codes', () => {
  const narrow = (error: unknown) => {
    if (isKithError(error, 'collection/not-found', 'collection/invalid-name')) {
      expectTypeOf(error.code).toEqualTypeOf<'collection/not-found' | 'collection/invalid-name'>();
      return error.code;
    }
    return isKithError(error) ? error.status : undefined;
  };
  expectTypeOf<'collection/not-found'>().toExtend<ErrorCodeOf<'collections.rename'>>();
  expectTypeOf<'connection/not-found'>().not.toExtend<ErrorCodeOf<'collections.rename'>>();
  const error = new KithError('No.', { status: 404, code: 'collection/not-found' });
  expect([narrow(error), narrow(new Error('No.'))]).toEqual(['collection/not-found', undefined]);
});
