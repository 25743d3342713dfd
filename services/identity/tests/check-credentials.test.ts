import { randomUUID } from 'node:crypto';
import { DeadlinePassed } from '@kith/base';
import { type signIn, userCreated } from '@kith/contracts';
import type { OperationRequest } from '@kith/service';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import type { AppContext } from '../src/app.ts';
import { checkCredentials } from '../src/check-credentials.ts';
import { markImported, nobodysHash, verifyImported } from '../src/imported-hash.ts';
import { derive, Passwords } from '../src/passwords.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { makeProjectRow } from './support/projects.ts';
import { makeUser } from './support/users.ts';

const audit = { tell: () => undefined } as unknown as OperationRequest<typeof signIn>['audit'];

describe.each(handlerEngines())('the check of an address and a password on %s', (engine) => {
  const password = 'correct horse battery staple';
  const check = (app: AppContext, projectId: string, body: { email: string; password: string }) =>
    checkCredentials(app, { projectId, body, clientIp: '192.0.2.1', deadline: Date.now() + 10_000, audit });
  const addUser = async (app: AppContext, projectId: string, passwordHash: string) => {
    const email = `${randomUUID()}@example.org`;
    const user = makeUser({ projectId, email, passwordHash });
    await app.store.users.add(user, userEvent(userCreated, user));
    return { ...user, email };
  };
  const withUser = async (app: AppContext) => {
    const project = makeProjectRow();
    await app.store.projects.add(project);
    return addUser(app, project.id, await app.passwords.hash(password, Date.now() + 10_000));
  };
  const bcryptKind = '$2b$10';

  test('counts a wrong password even if the deadline passes before hashes of other backends are verified', async () => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const { projectId, email } = await withUser(app);
    await app.store.imports.noteHashKinds(projectId, [bcryptKind], () => true);
    const imported = await addUser(app, projectId, markImported(nobodysHash(bcryptKind)));
    const late = () => Promise.reject(new DeadlinePassed());
    app.passwords = new Passwords({ derive, verifyImported: late });
    for (const address of [email, imported.email, 'nobody@example.org']) {
      const body = { email: address, password: 'wrong' };
      for (let nth = 0; nth < 10; nth++)
        await expect(check(app, projectId, body)).rejects.toThrow(DeadlinePassed);
      const tooMany = { code: 'auth/too-many-attempts' };
      await expect(check(app, projectId, body)).rejects.toMatchObject(tooMany);
    }
  });

  test('does not count the right password of an imported user as a failure, no matter how often it is given', async () => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const { projectId } = await withUser(app);
    const { id, email } = await addUser(app, projectId, markImported(nobodysHash(bcryptKind)));
    app.passwords = new Passwords({ derive, verifyImported: async (given) => given === password });
    const refused = { code: 'auth/invalid-credentials' };
    for (let nth = 0; nth < 9; nth++) {
      await expect(check(app, projectId, { email, password: 'wrong' })).rejects.toMatchObject(refused);
    }
    for (let nth = 0; nth < 3; nth++) {
      expect((await check(app, projectId, { email, password })).user.id).toBe(id);
    }
    await expect(check(app, projectId, { email, password: 'wrong' })).rejects.toMatchObject(refused);
    const tooMany = { code: 'auth/too-many-attempts' };
    await expect(check(app, projectId, { email, password })).rejects.toMatchObject(tooMany);
  });

  test('refuses a password that is changed during the check, even if the user’s suspension has just ended', async () => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const made = await withUser(app);
    const { projectId, email } = made;
    const ended = { isActive: false, suspendedAt: new Date(), sessionEpoch: made.sessionEpoch + 1 };
    const suspended = { ...made, ...ended, rev: made.rev + 1 };
    const suspension = { until: new Date(Date.now() - 1), reason: null };
    const suspend = { event: null, ending: 'suspended', suspension } as const;
    expect(await app.store.accounts.update(suspended, suspend)).toBe('stored');
    const usual = app.passwords;
    const newPassword = 'another pass phrase';
    const changed = {
      ...suspended,
      passwordHash: await usual.hash(newPassword, Date.now() + 10_000),
      sessionEpoch: suspended.sessionEpoch + 1,
      rev: suspended.rev + 1,
    };
    const whileVerifying: typeof derive = async (...of) => {
      const change = { event: null, ending: 'password-set' } as const;
      expect(await app.store.accounts.update(changed, change)).toBe('stored');
      return derive(...of);
    };
    app.passwords = new Passwords({ derive: whileVerifying, verifyImported });
    const refused = { code: 'auth/invalid-credentials' };
    await expect(check(app, projectId, { email, password })).rejects.toMatchObject(refused);
    app.passwords = usual;
    const { user } = await check(app, projectId, { email, password: newPassword });
    expect(user).toMatchObject({ isActive: true, sessionEpoch: changed.sessionEpoch });
  });
});
