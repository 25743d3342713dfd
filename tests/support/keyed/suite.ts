import { type OperationSpec, serviceOf } from '@kith/contracts';
import type { StoreConfig } from '@kith/store';
import {
  type Death,
  dieBeforeEachWrite,
  dumpStore,
  type EngineKind,
  runUntilDeath,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stores, startServices } from './services.ts';
import { makeStores, storesOf } from './stores.ts';
import { KeyedWorld } from './world.ts';

const child = new URL('./dying-request.ts', import.meta.url);

/**
 * Tests requests with an idempotency key. In the first round, the process dies before the first write of the request, in the
 * second round before the second write, and so on. After each death, the test sends the request again.
 */
export function describeKeyedDeaths(engine: EngineKind, specs: readonly OperationSpec[]): void {
  describe(`requests with an idempotency key, when the process dies (${engine})`, () => {
    const undo = new AsyncDisposableStack();
    let stores: Stores;
    let world: KeyedWorld;
    beforeAll(async () => {
      stores = await makeStores(engine, undo);
      world = new KeyedWorld(undo.use(await startServices(stores)).bus);
    }, 60_000);
    afterAll(() => undo.disposeAsync());

    /** The types of all events that the operation's service has stored for a project, whether they are published or not. */
    const eventsOf = async (spec: OperationSpec, projectId: string) => {
      const dump = await dumpStore(stores[serviceOf(spec)] as StoreConfig);
      const texts = Object.values(dump).flat().flatMap(eventTexts);
      const own = texts.filter((text) => text.includes(`"projectId":"${projectId}"`));
      const types = own.map((text) => /"id":"([^"]+)","type":"([^"]+)"/.exec(text) ?? []);
      return [...new Map(types.map(([, id, type]) => [id, type])).values()].toSorted();
    };

    it.each(specs.map((spec) => [spec.name, spec] as const))(
      '%s takes effect exactly once',
      { timeout: 300_000 },
      async (_, spec) => {
        const usual = await world.callOf(spec.name);
        expect((await world.untilAnswered(spec, usual)).status).toBe(spec.status);
        const expected = await eventsOf(spec, usual.projectId);

        const needed = storesOf(spec, stores);
        const projects: string[] = [];
        const deaths: Death[] = await dieBeforeEachWrite(async (number) => {
          const call = await world.callOf(spec.name);
          projects.push(call.projectId);
          const death = await runUntilDeath(child, { stores: needed, operation: spec.name, call, number });
          const first = await world.untilAnswered(spec, call);
          expect([first.status, first.text]).toEqual([spec.status, first.text]);
          if (death.acknowledged) expect(first.headers).toHaveProperty('Idempotency-Replayed', 'true');
          const again = await world.untilAnswered(spec, call);
          expect(again.headers).toHaveProperty('Idempotency-Replayed', 'true');
          expect([again.status, again.text]).toEqual([first.status, first.text]);
          return death;
        });
        expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
        // Waits for the events, because a change whose process has died is sometimes completed only by a later sweep.
        for (const projectId of projects) {
          // `found` holds the events that `isWhole` has read last. These events are not read again for the comparison, because
          // a new read could miss an event that is being moved out of its document at that moment.
          let found: (string | undefined)[] = [];
          const isWhole = async () => {
            found = await eventsOf(spec, projectId);
            return found.length >= expected.length;
          };
          await waitFor(isWhole, { what: 'the events', timeoutMs: 20_000 });
          expect(found).toEqual(expected);
        }
      },
    );
  });
}

/** The events in a row of the store: the row's own event, or the events in the row's outbox. */
function eventTexts({ event, outbox }: Record<string, unknown>): string[] {
  const waiting = Array.isArray(outbox) ? outbox : [];
  return [event, ...waiting.map((one) => one.event)].filter((text) => typeof text === 'string');
}
