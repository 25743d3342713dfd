// Starts no platform and at most 120 processes.
import { randomUUID } from 'node:crypto';
import type { Bus } from '@kith/bus';
import {
  type AuditRow,
  blockUser,
  createProject,
  createServerKey,
  listAudit,
  listBlocks,
  listServerKeys,
  type OperationSpec,
  type Session,
  signUp,
} from '@kith/contracts';
import {
  callerOf,
  callOperation,
  dieBeforeEachWrite,
  handlerEngines,
  type OperationCall,
  runUntilDeath,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stores, startServices } from './support/keyed/services.ts';
import { makeStores, storesOf } from './support/keyed/stores.ts';

const child = new URL('./support/keyed/dying-request.ts', import.meta.url);
const operator = { keyId: null, projectIds: null };

/** Tests that rows of the audit log are stored together with the changes that they record. */
describe.each(handlerEngines())('the audit log of processes that die (%s)', (engine) => {
  const undo = new AsyncDisposableStack();
  let stores: Stores;
  let bus: Bus;
  beforeAll(async () => {
    stores = await makeStores(engine, undo);
    ({ bus } = undo.use(await startServices(stores)));
  }, 60_000);
  afterAll(() => undo.disposeAsync());

  const ok = async <T>(spec: OperationSpec, call: OperationCall): Promise<T> => {
    const { status, text, body } = await callOperation(bus, spec, call);
    expect([spec.name, status, text]).toEqual([spec.name, spec.status, text]);
    return body;
  };
  const makeProject = async () =>
    (await ok<{ id: string }>(createProject, { operator, body: { name: 'Audited' } })).id;
  const rowsOf = async (projectId: string, action: string) => {
    const query = String(new URLSearchParams({ projectId, action }));
    return (await ok<{ data: AuditRow[] }>(listAudit, { operator, query })).data;
  };

  /**
   * Makes the same kind of request in many processes. The first process dies before its first write, the second process before its
   * second write, and so on. Checks each time that the change and its row are both there or both missing.
   */
  const expectBoth = async (
    spec: OperationSpec,
    prepare: (projectId: string) => Promise<{ call: OperationCall; isChanged: () => Promise<boolean> }>,
  ) => {
    const needed = storesOf(spec, stores);
    const deaths = await dieBeforeEachWrite(async (number) => {
      const projectId = await makeProject();
      const { call, isChanged } = await prepare(projectId);
      const death = await runUntilDeath(child, { stores: needed, operation: spec.name, call, number });
      if (death.acknowledged) expect(await isChanged()).toBe(true);
      // If the process died in the middle of the change, other processes complete the change and store the row, in any order.
      const count = async () => (await rowsOf(projectId, spec.name)).length;
      const agrees = async () => (await count()) === ((await isChanged()) ? 1 : 0);
      await waitFor(agrees, { what: 'a row if, and only if, the change was made', timeoutMs: 20_000 });
      return death;
    });
    expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
    expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
  };

  it('has a row for a server key if, and only if, the key was stored', { timeout: 120_000 }, () =>
    expectBoth(createServerKey, async (projectId) => ({
      call: { operator, params: { projectId }, body: { name: 'Shop' } },
      isChanged: async () => {
        const { data } = await ok<{ data: unknown[] }>(listServerKeys, { operator, params: { projectId } });
        return data.length > 0;
      },
    })),
  );

  it(
    'has a row for a change by a server key if, and only if, the change was made',
    { timeout: 120_000 },
    () =>
      expectBoth(blockUser, async (projectId) => {
        const user = async () => {
          const body = { email: `${randomUUID()}@example.com`, password: randomUUID() };
          return callerOf((await ok<Session>(signUp, { projectId, body })).user.id);
        };
        const [caller, other] = [await user(), await user()];
        return {
          call: { projectId, caller, serverKey: { keyId: randomUUID() }, params: { userId: other.userId } },
          isChanged: async () => {
            const { data } = await ok<{ data: unknown[] }>(listBlocks, { projectId, caller });
            return data.length > 0;
          },
        };
      }),
  );
});
