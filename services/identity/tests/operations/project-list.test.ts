import { createProject, listProjects, type Project, updateProject } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { newestFirst, walk } from '../support/listing.ts';
import { expectInvalid } from '../support/refusals.ts';

describe.each(handlerEngines())('the list of projects on %s', (engine) => {
  let identity: TestIdentity;
  const projects: Project[] = [];
  const list = (query = '') => call(identity.bus, listProjects, { query });
  const make = async () =>
    (await call(identity.bus, createProject, { body: { name: `P ${projects.length}` } })).body;

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  test('is empty at first, then contains all projects, newest first, in pages', async () => {
    const none = await list();
    expect(none.status).toBe(200);
    expect(none.body).toEqual({
      data: [],
      pagination: { page: 1, pageSize: 20, totalPages: 0, totalItems: 0, hasMore: false },
    });
    for (let count = 0; count < 5; count++) projects.push(await make());
    projects.sort(newestFirst);
    const second = await list('page=2&limit=2');
    expect(second.body).toEqual({
      data: projects.slice(2, 4),
      pagination: { page: 2, pageSize: 2, totalPages: 3, totalItems: 5, hasMore: true },
    });
    const last = await list('page=3&limit=2');
    expect(last.body.data).toEqual(projects.slice(4));
    expect(last.headers.Link).toBeUndefined();
    expect((await list('limit=1000')).body.pagination.pageSize).toBe(100);
    expect((await list('page=99999999999999999999')).body.data).toEqual([]);
  });

  test('is read by cursor without repetitions or gaps while projects are added', async () => {
    const walked = await walk(list, 'limit=2', () => make());
    expect(walked).toEqual(projects);
  });

  test('is read by cursor if the settings are too long for one answer', async () => {
    const text = `{link} ${'🦊'.repeat(7_000)}`;
    const kinds = ['passwordReset', 'verificationLink', 'emailChange', 'emailChanged'];
    const mailTexts = Object.fromEntries(kinds.map((kind) => [kind, { subject: 'S', text }]));
    const { body: before } = await list('limit=100');
    const long: string[] = [];
    while (long.length < 40) {
      const body = { name: 'Long' };
      const { id } = (await call(identity.bus, createProject, { body })).body;
      await call(identity.bus, updateProject, { params: { projectId: id }, body: { mailTexts } });
      long.push(id);
    }
    const first = await list('limit=100');
    expect([first.status, first.body.pagination.hasMore]).toEqual([200, true]);
    expect(first.body.data.length).toBeLessThan(long.length);
    const walked = (await walk(list, 'limit=100', async () => {})) as Project[];
    expect(walked.map(({ id }) => id).toSorted()).toEqual(
      [...long, ...before.data.map(({ id }: Project) => id)].toSorted(),
    );
  });

  test.each([
    ['page', 'page=0'],
    ['limit', 'limit=x'],
    ['cursor', 'cursor=abc'],
    ['page', 'page=1&page=2'],
  ])('refuses an invalid %s', async (field, query) => {
    expectInvalid(await list(query), 'project/invalid-query', field);
  });
});
