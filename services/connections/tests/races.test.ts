import { acceptConnection, declineConnection, errorBody } from '@kith/contracts';
import { handlerEngines, type OperationAnswer } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { askEachOther } from './support/crowd.ts';
import { threePeopleForEach } from './support/suite.ts';
import type { World } from './support/world.ts';

describe.each(handlerEngines())('races, %s', (engine) => {
  let world: World;
  let ann: string;
  let bob: string;
  threePeopleForEach(engine, (started, people) => {
    world = started;
    [ann, bob] = people;
  });

  it('users who all ask each other at the same time get one record for each pair, and exact totals', async () => {
    await askEachOther(world, engine === 'embedded' ? 30 : 12);
  });

  it.each([
    ['accepts', [acceptConnection], ['connection.accepted']],
    [
      'accepts and declines',
      [acceptConnection, declineConnection],
      ['connection.accepted', 'connection.declined'],
    ],
  ])(
    '50 %s of one request: one succeeds, the others get "not found", and one event is published',
    async (_, specs, types) => {
      const { id: connectionId } = (await world.request(ann, bob)).body;
      const answers: OperationAnswer[] = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          world.call(specs[at % specs.length]!, bob, { params: { connectionId } }),
        ),
      );
      const [answered, ...others] = answers.toSorted((one, other) => one.status - other.status);
      expect(answered).toMatchObject({ status: 200, body: { id: connectionId } });
      for (const { status, body } of others) {
        expect([status, body]).toEqual([404, errorBody('connection/not-found')]);
      }
      const isAccepted = answered!.body.status === 'accepted';
      expect((await world.list(ann)).body.pagination.totalCount).toBe(isAccepted ? 1 : 0);
      const [requested, ...told] = await world.eventsOf(ann, bob, 2);
      expect(requested?.type).toBe('connection.requested');
      expect(told.map(({ type }) => type)).toEqual([isAccepted ? types[0] : types[1]]);
    },
  );
});
