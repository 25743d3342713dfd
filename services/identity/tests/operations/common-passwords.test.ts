import { randomUUID } from 'node:crypto';
import { changePassword, resetPassword, setPassword, signUp } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { callerOfSession, password, signUpUser } from '../support/people.ts';
import { startForSuite } from '../support/suite.ts';

describe.each(handlerEngines())('passwords that an attacker tries first on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  const used = 'password must not be one of the most used passwords.';
  const named = 'password must not be the e-mail address or the username.';

  test.each([
    ['password', used],
    ['PassWord', used],
    [' 12345678 ', used],
    ['qwertyuiop', used],
    ['iloveyou', used],
    // Full-width letters.
    ['\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44', used],
    ['Weak.Ones@Example.org', named],
    ['WEAK.ones.7', named],
  ])('sign-up refuses %j', async (given, error) => {
    const body = { email: 'weak.ones@example.org', username: 'weak.Ones.7', password: given };
    const answer = await call(identity.bus, signUp, { projectId, body });
    expect([answer.status, answer.body]).toEqual([
      400,
      { error, code: 'auth/weak-password', field: 'password' },
    ]);
  });

  test('sign-up accepts a password that is similar to a weak password, but not the same', async () => {
    for (const good of ['password of mine', 'weak.ones', 'iloveyou, 7 of nine']) {
      expect((await signUpUser(identity.bus, projectId, { password: good })).success).toBe(true);
    }
  });

  test('change-password and the operators’ set-password refuse weak passwords, too', async () => {
    const session = await signUpUser(identity.bus, projectId, { username: 'Ada.Weak.1' });
    const { id: userId, email } = session.user;
    for (const weak of ['sunshine1', 'ADA.weak.1', email.toUpperCase()]) {
      const body = { password, newPassword: weak };
      const caller = callerOfSession(session);
      const changed = await call(identity.bus, changePassword, { projectId, caller, body });
      expect([changed.status, changed.body]).toMatchObject([
        400,
        { code: 'auth/weak-password', field: 'newPassword' },
      ]);
      const params = { projectId, userId };
      const set = await call(identity.bus, setPassword, { params, body: { password: weak } });
      expect([set.status, set.body]).toMatchObject([400, { code: 'auth/weak-password', field: 'password' }]);
    }
  });

  test('a weak password is refused before a token or a user that does not exist', async () => {
    const reset = { token: 'x', newPassword: 'password123' };
    const answer = await call(identity.bus, resetPassword, { projectId, body: reset });
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: used.replace('password', 'newPassword'), code: 'auth/weak-password', field: 'newPassword' },
    ]);
    const params = { projectId, userId: randomUUID() };
    const set = await call(identity.bus, setPassword, { params, body: { password: 'password123' } });
    expect([set.status, set.body]).toEqual([
      400,
      { error: used, code: 'auth/weak-password', field: 'password' },
    ]);
  });
});
