import { generateKeyPairSync } from 'node:crypto';
import { SoftwarePasskey, type TestPlatform, waitFor } from '@kith/testing';
import { Secret, TOTP } from 'otpauth';
import { mailTo, tokenIn } from '../../tests/support/mails.ts';
import type { Recorder } from './recorder.ts';

const password = 'correct horse battery staple';

/**
 * Calls every operation once. The order of the calls ensures that each operation finds the data that it needs for its answer.
 */
export async function tellStory(
  recorder: Recorder,
  operatorToken: string,
  platform: Pick<TestPlatform, 'dataFolder'>,
): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { format: 'pem', type: 'spki' },
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
  });
  await project(recorder, operatorToken, publicKey);
  await testTokens(recorder, Buffer.from(privateKey).toString('base64'));
  const people = await accounts(recorder);
  await mails(recorder, platform);
  await connections(recorder, people);
  await collections(recorder, people.ada.token);
  await notifications(recorder, people);
  await files(recorder, people.ada.token);
  await operators(recorder, operatorToken, people.alan.id);
  await imports(recorder, operatorToken);
  await endings(recorder, operatorToken, people);
  await secondFactors(recorder, operatorToken);
}

interface Person {
  id: string;
  token: string;
  refreshToken: string;
}
type People = Record<'ada' | 'grace' | 'alan', Person>;

async function project(recorder: Recorder, token: string, publicKey: string): Promise<void> {
  const { id } = await recorder.send('identity.create-project', { token, body: { name: 'Reading club' } });
  recorder.projectId = id;
  const params = { projectId: id };
  const body = { publicKey, webOrigins: ['https://app.example.org'] };
  await recorder.send('identity.update-project', { token, params, body });
  await recorder.send('identity.get-project', { token, params });
  await recorder.send('identity.list-projects', { token, query: { page: '1', limit: '20' } });
  await recorder.send('identity.get-project-lean');
  const other = await recorder.send('identity.create-project', { token, body: { name: 'Old trial' } });
  await recorder.send('identity.delete-project', { token, params: { projectId: other.id } });
}

async function testTokens(recorder: Recorder, privateKey: string): Promise<void> {
  const { projectId } = recorder;
  const user = { id: 'user-1', name: 'Katherine', role: 'visitor' };
  const body = { projectId, privateKey, payload: user };
  const { token } = await recorder.send('crypto.sign-testing-jwt', { body });
  await recorder.send('crypto.sign-testing-jwt-v2', { body: { projectId, privateKey, userData: user } });
  await recorder.send('identity.verify-external-user', { body: { userJwt: token } });
  await recorder.send('identity.get-user-by-foreign-id', { query: { foreignId: 'user-1' } });
  await recorder.send('identity.jwks');
}

async function accounts(recorder: Recorder): Promise<People> {
  const profile = { name: 'Ada', bio: 'Writes programs for a machine that is not there yet.' };
  const credentials = { email: 'ada@example.com', password };
  const ada = await signUp(recorder, { ...credentials, username: 'ada', ...profile });
  const grace = await signUp(recorder, {
    email: 'grace@example.com',
    password,
    username: 'grace',
    name: 'Grace',
  });
  const alan = await signUp(recorder, {
    email: 'alan@example.com',
    password,
    username: 'alan',
    name: 'Alan',
  });

  const { refreshToken } = await recorder.send('identity.sign-in', { body: credentials });
  const renewed = await recorder.send('identity.request-new-access-token', { body: { refreshToken } });
  await recorder.send('identity.sign-out', { body: { refreshToken: renewed.refreshToken } });
  const { token } = ada;
  await recorder.send('identity.sign-in', { body: credentials });
  const { data } = await recorder.send('identity.list-sessions', {
    token,
    query: { page: '1', limit: '20' },
  });
  const other = (data as { id: string; current: boolean }[]).find(({ current }) => !current);
  await recorder.send('identity.delete-session', { token, params: { sessionId: other?.id ?? '' } });
  await recorder.send('identity.check-username', { query: { username: 'ada.l' } });
  const params = { userId: ada.id };
  await recorder.send('identity.update-user', { token, params, body: { location: 'London', bio: null } });
  await recorder.send('identity.get-user', { params: { userId: grace.id } });
  await recorder.send('identity.get-user-by-username', { query: { username: 'grace' } });
  await recorder.send('identity.suggest-users', { query: { query: 'gr' } });
  return { ada, grace, alan };
}

async function secondFactors(recorder: Recorder, operatorToken: string): Promise<void> {
  const credentials = { email: 'hedy@example.com', password };
  const { id: userId, token } = await signUp(recorder, { ...credentials, username: 'hedy', name: 'Hedy' });
  const rpId = 'app.example.org';
  const passkey = new SoftwarePasskey(`https://${rpId}`);
  const begun = await recorder.send('identity.enrol-factor', {
    token,
    body: { type: 'passkey', name: 'Laptop', rpId },
  });
  await recorder.send('identity.confirm-factor', {
    token,
    params: { factorId: begun.id },
    body: { passkey: passkey.create(begun.options) },
  });
  const request = await recorder.send('identity.challenge-sign-in', { body: { ...credentials, rpId } });
  await recorder.send('identity.sign-in', { body: { ...credentials, passkey: passkey.get(request) } });
  await recorder.send('identity.challenge-passkey', { token, body: { rpId } });
  await recorder.send('identity.step-up', { token, body: { password } });
  await recorder.send('identity.renew-recovery-codes', { token });
  const app = await recorder.send('identity.enrol-factor', { token, body: { type: 'totp', name: 'Phone' } });
  const code = new TOTP({ secret: Secret.fromBase32(app.secret) }).generate();
  await recorder.send('identity.confirm-factor', { token, params: { factorId: app.id }, body: { code } });
  await recorder.send('identity.list-factors', { token });
  await recorder.send('identity.remove-factor', { token, params: { factorId: app.id } });
  const { projectId } = recorder;
  await recorder.send('identity.remove-user-factors', {
    token: operatorToken,
    params: { projectId, userId },
  });
}

async function mails(recorder: Recorder, platform: Pick<TestPlatform, 'dataFolder'>): Promise<void> {
  const email = 'katherine@example.com';
  const { accessToken: token } = await recorder.peek('identity.sign-up', { body: { email, password } });
  await recorder.send('identity.send-verification-email', { token, body: { mode: 'link' } });
  const link = tokenIn(await mailTo(platform, email, 'verificationLink'));
  const redirect = 'https://app.example.org/welcome';
  await recorder.send('identity.verify-email-link', {
    query: { token: 'Zk3qX0c8m1vB7tYw5uPz2rLd9sNaHf4eGjKoTiVxQbM', redirect },
  });
  await recorder.send('identity.verify-email', { body: { token: link } });
  const newEmail = 'katherine.j@example.com';
  await recorder.send('identity.change-email', { token, body: { password, newEmail } });
  await recorder.send('identity.request-password-reset', { body: { email } });
  const reset = tokenIn(await mailTo(platform, email, 'passwordReset'));
  const newPassword = 'a longer pass phrase';
  await recorder.send('identity.reset-password', { body: { token: reset, newPassword } });
}

async function signUp(recorder: Recorder, body: Record<string, unknown>): Promise<Person> {
  const { user, accessToken, refreshToken } = await recorder.send('identity.sign-up', { body });
  return { id: (user as { id: string }).id, token: accessToken, refreshToken };
}

async function connections(recorder: Recorder, { ada, grace, alan }: People): Promise<void> {
  const ask = (from: Person, to: Person, body = {}) =>
    recorder.send('connections.request', { token: from.token, params: { userId: to.id }, body });
  const answer = (by: Person, name: string, connectionId: string) =>
    recorder.send(name, { token: by.token, params: { connectionId } });

  const first = await ask(ada, grace, { message: 'Hello Grace, shall we connect?' });
  const page = { page: '1', limit: '20' };
  await recorder.send('connections.list-sent', { token: ada.token, query: page });
  await recorder.send('connections.list-received', { token: grace.token, query: page });
  await answer(grace, 'connections.accept', first.id);
  const second = await ask(alan, ada);
  await answer(ada, 'connections.decline', second.id);
  await recorder.send('connections.get-status', { token: ada.token, params: { userId: grace.id } });
  await recorder.send('connections.list', { token: ada.token, query: page });
  await recorder.send('connections.count', { token: ada.token });
  await recorder.send('connections.list-of-user', { params: { userId: grace.id }, query: page });
  await recorder.send('connections.count-of-user', { params: { userId: grace.id } });
  const third = await ask(alan, grace);
  await answer(alan, 'connections.delete', third.id);
  const token = grace.token;
  await recorder.send('connections.update-settings', { token, body: { requestsFrom: 'common' } });
  await recorder.send('connections.get-settings', { token });
  await recorder.send('connections.block', { token: ada.token, params: { userId: alan.id } });
  await recorder.send('connections.list-blocks', { token: ada.token, query: page });
  await recorder.send('connections.unblock', { token: ada.token, params: { userId: alan.id } });
}

async function collections(recorder: Recorder, token: string): Promise<void> {
  const root = await recorder.send('collections.get-root', { token });
  const below = { collectionId: root.id };
  const body = { collectionName: 'Books' };
  const { id } = await recorder.send('collections.create-sub-collection', { token, params: below, body });
  await recorder.send('collections.list-sub-collections', { token, params: below, query: { limit: '100' } });
  const params = { collectionId: id };
  await recorder.send('collections.rename', { token, params, body: { name: 'Books to read' } });
  const entity = { entityId: 'book-42', metadata: { page: 17 } };
  await recorder.send('collections.add-entity', { token, params, body: entity });
  const query = { page: '1', limit: '20', sortDir: 'desc' };
  await recorder.send('collections.list-entities', { token, params, query });
  const { entityId } = entity;
  await recorder.send('collections.is-entity-saved', { token, query: { entityId } });
  await recorder.send('collections.remove-entity', { token, params: { ...params, entityId } });
  await recorder.send('collections.delete', { token, params });
}

async function notifications(recorder: Recorder, { ada, grace }: People): Promise<void> {
  const { token } = grace;
  const query = { page: '1', limit: '5' };
  // The notification is made from an event. So it comes some moments after the action that it announces.
  const item = await waitFor(async () => {
    const { data } = await recorder.peek('notifications.list', { token, query });
    return (data as { id: string }[])[0];
  });
  await recorder.send('notifications.list', { token, query });
  await recorder.send('notifications.count', { token });
  await recorder.send('notifications.mark-as-read', { token, params: { notificationId: item.id } });
  await recorder.send('notifications.mark-all-as-read', { token: ada.token });
  const body = { types: { 'connection-accepted': false } };
  await recorder.send('notifications.update-settings', { token: ada.token, body });
  await recorder.send('notifications.get-settings', { token: ada.token });
}

/** A red square. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4Y2xMEmIY1TCqYfhqAABHizIQlCQN8AAAAABJRU5ErkJggg==';

async function files(recorder: Recorder, token: string): Promise<void> {
  const picture = new File([Buffer.from(png, 'base64')], 'square.png');
  const sent = { sizes: '{"small":8}', quality: '80' };
  const image = await recorder.upload('storage.create-image', { token, body: sent, file: picture });
  const notes = new File(['Tape the bug into the book.'], 'notes.txt');
  const { fileId } = await recorder.upload('storage.create-file', { token, file: notes });
  await recorder.send('storage.list-files', { token, query: { page: '1', limit: '20' } });
  await recorder.read('storage.get-file', { params: { fileId } });
  await recorder.read('storage.get-file-variant', { params: { fileId: image.fileId, variant: 'small' } });
  await recorder.send('storage.delete-file', { token, params: { fileId } });
}

async function operators(recorder: Recorder, token: string, userId: string): Promise<void> {
  const { projectId } = recorder;
  const query = { page: '1', limit: '20', query: 'ada' };
  await recorder.send('identity.list-project-users', { token, params: { projectId }, query });
  const standing = { role: 'moderator', reputation: 10, isVerified: true };
  await recorder.send('identity.change-user', { token, params: { projectId, userId }, body: standing });
  const first = { page: '1', limit: '20' };
  await recorder.send('identity.list-user-sessions', { token, params: { projectId, userId }, query: first });
  const suspension = { reason: 'Sends advertisements', until: '2099-01-01T00:00:00.000Z' };
  await recorder.send('identity.suspend-user', { token, params: { projectId, userId }, body: suspension });
  await recorder.send('identity.restore-user', { token, params: { projectId, userId } });
  const body = { password: 'a password told by phone' };
  await recorder.send('identity.set-password', { token, params: { projectId, userId }, body });
  await recorder.send('identity.end-user-sessions', { token, params: { projectId, userId } });
  for (const copy of [
    'connections.rebuild-profiles',
    'notifications.rebuild-profiles',
    'identity.rebuild-blocks',
  ]) {
    await recorder.send(copy, { token, body: { after: null } });
    // The audit log gets rows of other services by events. So such a row comes some moments after the answer.
    await waitFor(async () => {
      const { data } = await recorder.peek('identity.list-audit', { token, query: { action: copy } });
      return (data as unknown[])[0];
    });
  }
  const key = { name: 'Support', scopes: ['users:read', 'users:write'], projectIds: [projectId] };
  const ends = { expiresAt: '2099-01-01T00:00:00.000Z' };
  const made = await recorder.send('identity.create-operator', { token, body: { ...key, ...ends } });
  await recorder.send('identity.list-operators', { token, query: first });
  await recorder.send('identity.delete-operator', { token, params: { keyId: made.id } });
  await recorder.send('identity.list-audit', { token, query: { limit: '2' } });
  const server = await recorder.send('identity.create-server-key', {
    token,
    params: { projectId },
    body: { name: 'Shop' },
  });
  await recorder.send('identity.list-server-keys', { token, params: { projectId }, query: first });
  await recorder.send('notifications.create', {
    token: server.key,
    body: {
      userIds: [userId],
      type: 'order-shipped',
      action: 'open-order',
      metadata: { orderId: '2025-1104', carrier: 'Post' },
    },
  });
  await recorder.send('identity.delete-server-key', { token, params: { projectId, keyId: server.id } });
  const { keys } = await recorder.send('identity.rotate-keys', { token });
  // Revokes the next key, because no token is signed with it yet.
  await recorder.send('identity.revoke-key', { token, body: { kid: keys[0].kid } });
}

async function imports(recorder: Recorder, token: string): Promise<void> {
  const params = { projectId: recorder.projectId };
  const send = (name: string, rows: unknown[]) => recorder.send(name, { token, params, body: { rows } });
  const at = '2025-11-03T08:15:00.000Z';
  await send('identity.import-users', [
    { foreignId: 'crm-1', email: 'mary@example.com', username: 'mary', name: 'Mary', createdAt: at },
    { foreignId: 'crm-2', email: 'joan@example.com', username: 'joan', name: 'Joan', createdAt: at },
  ]);
  await send('connections.import', [
    { requesterForeignId: 'crm-1', receiverForeignId: 'crm-2', state: 'accepted', requestedAt: at },
  ]);
  const books = { userForeignId: 'crm-1', id: 'books', name: 'Books', createdAt: at };
  await send('collections.import', [books]);
  const saved = { userForeignId: 'crm-1', collectionId: 'books', entityId: 'book-42', addedAt: at };
  await send('collections.import-entities', [saved]);
  const id = '4f9c6d0e-7a53-4b1f-9d2c-8e0b5a6c7d31';
  const body = { userForeignId: 'crm-1', id, createdAt: at };
  const file = new File(['Tape the bug into the book.'], 'notes.txt');
  await recorder.upload('storage.import-file', { token, params, body, file });
}

async function endings(recorder: Recorder, operatorToken: string, { ada, grace }: People): Promise<void> {
  const { token } = ada;
  const params = { userId: grace.id };
  await recorder.send('identity.export-user', { token, params: { userId: ada.id } });
  const { data: left } = await recorder.peek('storage.list-files', { token, query: { limit: '1' } });
  const { fileId } = (left as { fileId: string }[])[0]!;
  const ofFile = { projectId: recorder.projectId, fileId };
  await recorder.send('storage.delete-project-file', { token: operatorToken, params: ofFile });
  await recorder.send('connections.delete-with-user', { token, params });
  const body = { password, newPassword: 'a longer horse, a better battery' };
  await recorder.send('identity.change-password', { token, body });
  await recorder.send('identity.delete-user', { token: grace.token, params });
  await recorder.send('identity.announce-erasures', {
    token: operatorToken,
    params: { projectId: recorder.projectId },
    body: { userIds: [grace.id] },
  });
}
