import { randomUUID } from 'node:crypto';
import { type ImportResult, importUsers, signIn } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { hashSync } from 'bcryptjs';
import { describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { makeProject } from '../support/people.ts';
import { startForSuite } from '../support/suite.ts';

const password = 'correct horse battery';

describe.each(handlerEngines())('imported rows of existing users on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  startForSuite(engine, (started, project) => {
    identity = started;
    projectId = project;
  });

  const send = async (...rows: object[]) =>
    (await call(identity.bus, importUsers, { params: { projectId }, body: { rows } })).body as ImportResult;
  const conflict = (...fields: string[]) => ({
    imported: 0,
    unchanged: 0,
    rejected: [{ row: 0, reason: 'conflict', fields }],
  });
  const unchanged = { imported: 0, unchanged: 1, rejected: [] };

  const whole = () => {
    const foreignId = randomUUID();
    return {
      foreignId,
      email: `${foreignId}@Example.com`,
      passwordHash: hashSync(password, 4),
      username: `u.${foreignId.slice(0, 8)}`,
      name: 'Ada',
      bio: null,
      birthdate: '1990-02-28',
      metadata: { b: [1, { c: null }], a: 'x' },
      role: 'editor',
      reputation: 1.5,
      isVerified: true,
      createdAt: '2020-01-02T05:04:05+02:00',
    };
  };

  test('have the outcome `unchanged` if all their values are stored already, no matter in which form the row has them', async () => {
    const row = whole();
    const { foreignId } = row;
    expect(await send(row)).toEqual({ imported: 1, unchanged: 0, rejected: [] });
    const same = [
      row,
      { foreignId },
      { ...row, email: row.email.toLowerCase(), name: ' Ada ', createdAt: '2020-01-02T03:04:05.000Z' },
      { foreignId, metadata: { a: 'x', b: [1, { c: null }] }, avatar: null, location: ' ' },
    ];
    for (const one of same) expect(await send(one)).toEqual(unchanged);
  });

  test('are rejected if a field differs, and change nothing; the answer names the fields', async () => {
    const row = whole();
    await send(row);
    const others = {
      email: `other-${row.email}`,
      passwordHash: hashSync(password, 4),
      username: `o.${row.username}`,
      name: null,
      bio: 'Walks dogs.',
      birthdate: '1990-03-01',
      metadata: { a: 'x' },
      role: 'visitor',
      reputation: 2,
      isVerified: false,
      createdAt: '2020-01-02T05:04:06+02:00',
    };
    for (const [field, value] of Object.entries(others))
      expect(await send({ ...row, [field]: value })).toEqual(conflict(field));
    const second = { ...row, ...others };
    expect((await send(second)).rejected[0]?.fields?.toSorted()).toEqual(Object.keys(others).toSorted());
    expect(await send({ ...row, passwordHash: null })).toEqual(conflict('passwordHash'));
    expect(await send(row)).toEqual(unchanged);
  });

  test('have the outcome `unchanged` after the user has signed in, although our own hash has replaced the imported hash', async () => {
    const row = whole();
    await send(row);
    const { email } = row;
    const { status } = await call(identity.bus, signIn, { projectId, body: { email, password } });
    expect(status).toBe(200);
    expect(await send(row)).toEqual(unchanged);
    expect(await send({ ...row, name: 'Grace' })).toEqual(conflict('name'));
  });

  test('add no kinds of hashes to the project, because they are not stored', async () => {
    const own = await makeProject(identity.bus);
    const sendOwn = async (...rows: object[]) =>
      (await call(identity.bus, importUsers, { params: { projectId: own }, body: { rows } })).body;
    const first = whole();
    const withCost = (row: object, cost: number) => ({ ...row, passwordHash: hashSync(password, cost) });
    expect(await sendOwn(first)).toMatchObject({ imported: 1 });
    const [{ email }, other] = [first, whole()];
    const rejected = [
      { row: 0, reason: 'conflict', fields: ['passwordHash'] },
      { row: 1, reason: 'email-taken' },
      { row: 2, reason: 'username-taken' },
      { row: 3, reason: 'id-taken' },
    ];
    await send({ ...other, id: other.foreignId });
    const rows = [
      withCost(first, 5),
      withCost({ ...whole(), email }, 6),
      withCost({ ...whole(), username: first.username.toUpperCase() }, 7),
      withCost({ ...whole(), id: other.foreignId }, 8),
    ];
    expect(await sendOwn(...rows)).toEqual({ imported: 0, unchanged: 0, rejected });
    const three = [5, 6, 7].map((cost) => withCost(whole(), cost));
    expect(await sendOwn(...three)).toEqual({ imported: 3, unchanged: 0, rejected: [] });
    expect(await sendOwn(withCost(whole(), 8), withCost(first, 8))).toEqual({
      imported: 0,
      unchanged: 0,
      rejected: [
        { row: 0, reason: 'too-many-hash-kinds' },
        { ...rejected[0], row: 1 },
      ],
    });
  });

  test('are compared with earlier rows of the same request', async () => {
    const row = whole();
    expect(await send(row, row, { ...row, name: 'Grace' })).toEqual({
      imported: 1,
      unchanged: 1,
      rejected: [{ row: 2, reason: 'conflict', fields: ['name'] }],
    });
  });

  test('with an unknown field make the whole request fail, and the answer names the field', async () => {
    const { passwordHash, ...row } = whole();
    const body = { rows: [whole(), { ...row, password_hash: passwordHash }] };
    const { status, body: answer } = await call(identity.bus, importUsers, { params: { projectId }, body });
    expect([status, answer]).toEqual([
      400,
      {
        error: 'rows.1.password_hash is not a field of this endpoint.',
        code: 'request/unknown-field',
        field: 'rows.1.password_hash',
      },
    ]);
    expect(await send(row)).toEqual({ imported: 1, unchanged: 0, rejected: [] });
  });
});
