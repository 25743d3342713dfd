import { createLogger } from '@kith/base';
import { signIn, signUp, updateUser } from '@kith/contracts';
import { handlerEngines, testSecrets } from '@kith/testing';
import { expect, test } from 'vitest';
import { call } from './support/call.ts';
import { startTestIdentity } from './support/identity.ts';
import { callerOf, makeProject, password, signUpUser } from './support/people.ts';
import { dumpStore } from './support/raw-store.ts';

test.each(handlerEngines())('on %s, no log line and no row reveals a secret', async (engine) => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const log = createLogger({ name: 'test', level: 'trace', destination });
  const tokens: string[] = [];
  await using identity = await startTestIdentity(engine, { log });
  const { bus } = identity;
  const projectId = await makeProject(bus);
  const first = await signUpUser(bus, projectId, { username: 'ada' });
  const { email } = first.user;
  tokens.push(first.accessToken, first.refreshToken);
  await call(bus, signUp, { projectId, body: { email, password } });
  await call(bus, signUp, { projectId, body: { email: 'b@example.org', password, username: 'ADA' } });
  await call(bus, signUp, { projectId, body: { email, password, bio: 7 } });
  await call(bus, signUp, { projectId, body: `{"password":"${password}"` });
  await call(bus, signIn, { projectId, body: { email, password: `${password}?` } });
  const params = { userId: first.user.id };
  await call(bus, updateUser, { projectId, params, caller: callerOf(first.user), body: { name: 'Ada' } });
  const second = await call(bus, signIn, { projectId, body: { email, password } });
  tokens.push(second.body.accessToken, second.body.refreshToken);
  // This answer is stored with its tokens, because the request has an idempotency key.
  const idempotencyKey = `key-${projectId}`;
  const keyed = { projectId, idempotencyKey, body: { email: 'keyed@example.org', password } };
  const third = await call(bus, signUp, keyed);
  const again = await call(bus, signUp, keyed);
  expect(again.text).toBe(third.text);
  expect(again.headers).toHaveProperty('Idempotency-Replayed', 'true');
  tokens.push(third.body.accessToken, third.body.refreshToken, idempotencyKey);
  const dump = await dumpStore(identity.store);
  expect(dump.replies).toHaveLength(1);
  await identity.service.stop();

  expect(lines.join('')).toContain('"msg":"served"');
  const [user] = dump.users ?? [];
  const [key] = dump.keys ?? [];
  const opened = testSecrets.open('signing key', String(key?.sealed), String(key?.kid));
  const { d = '', p = '', q = '' } = JSON.parse(opened.toString()) as Partial<Record<string, string>>;
  const hashes = [
    String(user?.passwordHash),
    ...(dump.sessions ?? []).map(({ tokenHash }) => String(tokenHash)),
  ];
  expect(hashes).toHaveLength(4);
  for (const secret of [password, ...tokens, ...hashes, d, p, q]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  }
  const rows = JSON.stringify(dump);
  for (const secret of [password, ...tokens, d, p, q]) expect(rows).not.toContain(secret);
  const others = JSON.stringify({ ...dump, users: [] });
  expect(others).not.toContain(hashes[0]);
});
