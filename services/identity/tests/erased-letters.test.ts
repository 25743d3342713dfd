import { userCreated } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { expect, test } from 'vitest';
import { eraseAccount } from '../src/erase-account.ts';
import { finishErasures } from '../src/erasure.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { makeUser } from './support/users.ts';

test.each(handlerEngines())(
  'dead letters about an erased user are removed, except user.deleted, no matter how old they are (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const { bus, relay } = app;
    const { outbox } = app.store;
    const user = makeUser();
    const of = { projectId: user.projectId, userId: user.id };
    const durable = 'test-poisoned';
    const subjects = [`${bus.prefix}.event.${user.projectId}.user.>`];
    await bus.consume({ durable, subjects, maxDeliveries: 1 }, async () => {
      throw new Error('poison');
    });
    const types = async () =>
      (await bus.deadLetters(durable)).map(({ subject }) => subject.split('.').slice(-2).join('.'));
    /** Waits for dead letters, and removes the outbox's record of their events. */
    const dieAndExpire = async (count: number) => {
      relay.kick();
      const range = { from: `${user.projectId}|user|`, to: `${user.projectId}|user}` };
      await waitFor(
        async () => (await types()).length === count && !(await outbox.holds(range, { unpublished: true })),
      );
      await outbox.forget((await outbox.published(range, 10)).map(({ key }) => key));
      expect(await outbox.holds(range)).toBe(false);
    };

    await app.store.users.add(user, userEvent(userCreated, user));
    await dieAndExpire(1);
    await eraseAccount(app, of);
    await dieAndExpire(2);
    expect(await types()).toEqual(['user.created', 'user.deleted']);
    await finishErasures(app, 0);
    expect(await types()).toEqual(['user.deleted']);
  },
);
