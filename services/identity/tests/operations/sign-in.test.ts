import { randomUUID } from 'node:crypto';
import { getUser, signIn } from '@kith/contracts';
import { handlerEngines, type OperationAnswer, waitFor } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { callerOf, makeProject, password, signUpUser } from '../support/people.ts';
import { dumpStore } from '../support/raw-store.ts';
import { expectInvalid } from '../support/refusals.ts';
import { startForSuite } from '../support/suite.ts';

const wrong = {
  error: 'The e-mail address or the password is wrong.',
  code: 'auth/invalid-credentials',
};

describe.each(handlerEngines())('sign-in on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  const post = (body: unknown, to = projectId) => call(identity.bus, signIn, { projectId: to, body });

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  test('opens a further session, and stores the time of the sign-in', async () => {
    const first = await signUpUser(identity.bus, projectId, { name: 'Ada' });
    const before = Date.now();
    const { status, headers, body } = await post({ email: first.user.email.toUpperCase(), password });
    expect(status).toBe(200);
    expect(headers['Cache-Control']).toBe('no-store');
    expect(Date.parse(body.user.lastActive)).toBeGreaterThanOrEqual(before);
    const { lastActive, ...unchanged } = first.user;
    expect(body).toEqual({
      success: true,
      accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refreshToken: expect.stringMatching(/^[\w-]{68}$/),
      user: { ...unchanged, lastActive: expect.any(String) },
    });
    expect(body.refreshToken).not.toBe(first.refreshToken);
    expect(body.accessToken).not.toBe(first.accessToken);
    const { sessions } = await dumpStore(identity.store);
    const own = sessions?.filter(({ userId }) => userId === first.user.id) ?? [];
    expect(new Set(own.map(({ sid }) => sid)).size).toBe(2);
    const caller = callerOf(first.user);
    const stored = await call(identity.bus, getUser, {
      projectId,
      params: { userId: first.user.id },
      caller,
    });
    expect(stored.body).toEqual(body.user);
  });

  test('accepts a password in another Unicode encoding of the same characters', async () => {
    const { user } = await signUpUser(identity.bus, projectId, { password: 'pa\u0308ssword ﬁ' });
    expect((await post({ email: user.email, password: 'p\u00e4ssword fi' })).status).toBe(200);
  });

  test('refuses a password of over 256 characters before normalizing the text', async () => {
    const email = 'ada@example.org';
    // Normalizing the second of these passwords would block the process for seconds.
    for (const long of ['x'.repeat(257), `a${'\u0300\u0316'.repeat(32_000)}`]) {
      const { status, body } = await post({ email, password: long });
      expect([status, body.code, body.field]).toEqual([400, 'auth/invalid-body', 'password']);
    }
    // The length of a password is counted in code points.
    expect((await post({ email, password: '\u{1F600}'.repeat(256) })).status).toBe(401);
  });

  test('accepts a password of 256 characters with blanks around it, and the blanks belong to the password', async () => {
    const long = ` ${'x'.repeat(256)} `;
    const { user } = await signUpUser(identity.bus, projectId, { password: long });
    expect((await post({ email: user.email, password: long })).status).toBe(200);
    expect((await post({ email: user.email, password: long.trim() })).status).toBe(401);
  });

  test('gives the same answer for a wrong password, an unknown address and an address of another project', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const answers = [
      await post({ email: user.email, password: `${password}!` }),
      await post({ email: user.email, password: '' }),
      await post({ email: 'unknown@example.org', password }),
      await post({ email: user.email, password }, await makeProject(identity.bus)),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(401);
      expect(body).toEqual(wrong);
    }
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  test('refuses an unknown project', async () => {
    const answer = await post({ email: 'a@example.org', password }, randomUUID());
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ error: 'No such project.', code: 'project/not-found' });
  });

  test.each([
    ['email', { password }],
    ['email', { email: null, password }],
    ['password', { email: 'a@example.org' }],
  ])('refuses a malformed %s', async (field, body) => {
    expectInvalid(await post(body), 'auth/invalid-body', field);
  });

  test('refuses a body that is no JSON object', async () => {
    const answer = await post('nonsense');
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: 'The body is not a JSON object.', code: 'request/invalid-json' });
  });

  test('does not answer requests whose deadline passes while they wait for their turn', async () => {
    const body = { email: 'unknown@example.org', password };
    const { operationsExpired } = identity.runtime.metrics;
    const expired = async () => {
      const { values } = await operationsExpired.get();
      return values.find(({ labels }) => labels.operation === signIn.name)?.value ?? 0;
    };
    const answers: OperationAnswer[] = [];
    const deadline = Date.now() + 100;
    const burst = Array.from({ length: 60 }, async () => {
      answers.push(await call(identity.bus, signIn, { projectId, body, deadline }));
    });
    // The other requests get no answer, so they end long after this test. The test does not wait for them.
    void Promise.allSettled(burst);
    await waitFor(async () => answers.length + (await expired()) === burst.length);
    expect(await expired()).toBeGreaterThan(0);
    for (const answer of answers) expect(answer.body).toEqual(wrong);
  });
});
