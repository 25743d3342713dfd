import {
  createProject,
  deleteProject,
  type GatewaySettings,
  getProjectSettings,
  noticeSubject,
  type Project,
  projectSettingsNotice,
  updateProject,
} from '@kith/contracts';
import { ask } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';

const limits = { 'identity.sign-in': { max: 5, windowSeconds: 60 }, 'connections.list': null };
const webOrigins = ['https://app.example.org'];

// docs/adr/0013
describe.each(handlerEngines())('the settings of projects for gateways, on %s', (engine) => {
  let identity: TestIdentity;
  const told: GatewaySettings[] = [];

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
    const { bus } = identity;
    await bus.listen(noticeSubject(bus.prefix, projectSettingsNotice), ({ body }) => {
      told.push(projectSettingsNotice.body.parse(JSON.parse(new TextDecoder().decode(body))));
    });
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  const create = async (fields = {}): Promise<Project> =>
    (await call(identity.bus, createProject, { body: { name: 'Test', ...fields } })).body;
  const patch = (projectId: string, body: unknown) =>
    call(identity.bus, updateProject, { params: { projectId }, body });
  const page = (after: string | null) =>
    ask(identity.bus, getProjectSettings, { after }, { requestId: 'test', deadline: Date.now() + 20_000 });
  const lastTold = (projectId: string) => told.findLast((one) => one.projectId === projectId);

  test('are announced when a project is made, and each time they change', async () => {
    const { id } = await create({ limits });
    const settings = {
      ...{ projectId: id, limits, webOrigins: [] as string[] },
      ...{ publicProfiles: 'card', publicConnections: true },
    };
    await waitFor(() => told.length === 1, { what: 'the first notice' });
    expect(lastTold(id)).toEqual(settings);
    await patch(id, { webOrigins });
    await waitFor(() => told.length === 2, { what: 'the second notice' });
    expect(lastTold(id)).toEqual({ ...settings, webOrigins });
    await patch(id, {});
    await patch(id, { limits: { 'identity.fly': null } });
    await patch(id, { limits: {}, webOrigins: [] });
    await waitFor(() => told.length > 2, { what: 'the third notice' });
    expect(told.slice(2)).toEqual([{ ...settings, limits: {} }]);
  });

  test('do not make connection lists public as long as profiles are not public', async () => {
    const { id } = await create({ publicProfiles: false });
    const isPublic = (expected: boolean) =>
      waitFor(() => lastTold(id)?.publicConnections === expected, { what: String(expected) });
    await isPublic(false);
    await patch(id, { publicProfiles: true });
    await isPublic(true);
    await patch(id, { publicConnections: false });
    expect(await isPublic(false)).toBe(true);
  });

  test('are returned in pages for all projects except those that have set nothing', async () => {
    const plain = await create();
    const made: string[] = [];
    for (let n = 0; n < 60; n++) made.push((await create({ webOrigins })).id);
    const first = await page(null);
    expect(first.projects).toHaveLength(50);
    expect(first.next).toBe(first.projects.at(-1)?.projectId);
    const second = await page(first.next);
    expect(second.next).toBeNull();
    const ids = [...first.projects, ...second.projects].map(({ projectId }) => projectId);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(ids).toEqual(expect.arrayContaining(made));
    expect(ids).not.toContain(plain.id);
    expect(second.projects.concat(first.projects)).toContainEqual({
      projectId: made[0],
      limits: {},
      webOrigins,
      publicProfiles: 'card',
      publicConnections: true,
    });
  });

  test('also name deleted projects, on the same pages as other projects', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 60; count++) {
      const { id } = await create(count % 2 ? { limits } : {});
      if (count % 3 === 0) {
        await call(identity.bus, deleteProject, { params: { projectId: id } });
        ids.push(id);
        await waitFor(() => lastTold(id)?.isDeleted);
      }
    }
    const pages = [await page(null)];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next) pages.push(await page(next));
    const all = pages.flatMap(({ projects }) => projects);
    expect(new Set(all.map(({ projectId }) => projectId)).size).toBe(all.length);
    expect(all.filter(({ isDeleted }) => isDeleted).map(({ projectId }) => projectId)).toEqual(ids.sort());
    const [id = ''] = ids;
    const settings = { limits: {}, webOrigins: [], publicProfiles: 'none', publicConnections: false };
    expect(lastTold(id)).toEqual({ projectId: id, ...settings, isDeleted: true });
  });
});
