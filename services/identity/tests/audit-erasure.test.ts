import { randomUUID } from 'node:crypto';
import { type AuditRow, userCreated } from '@kith/contracts';
import { auditEventsOf, eventOf } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { eraseAccount } from '../src/erase-account.ts';
import { finishErasures } from '../src/erasure.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { makeUser } from './support/users.ts';

describe.each(handlerEngines())('the erasure of a user who is named in the audit log (%s)', (engine) => {
  it('does not end before the events of the audit log are published and erased', async () => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const user = makeUser();
    const { projectId, id: userId } = user;
    await app.store.users.add(user, userEvent(userCreated, user));
    const publish = app.bus.publish.bind(app.bus);
    app.bus.publish = (event) =>
      event.subject.includes('.audit.') ? Promise.reject(new Error('not now')) : publish(event);
    const row: AuditRow = {
      ...{ id: randomUUID(), at: new Date().toISOString(), actor: `user:${userId}`, projectId, target: null },
      ...{ action: 'identity.sign-in', ip: '192.0.2.1', requestId: 'r', outcome: 'success', count: 1 },
    };
    await app.store.outbox.restate([eventOf(row)]);
    await eraseAccount(app, { projectId, userId });
    const isOut = async () => (await app.store.outbox.unpublished(10)).length === 1;
    await waitFor(isOut, { what: 'all events except the event of the audit log' });
    await finishErasures(app, 0);
    expect(await app.store.erasure.unfinished(10)).toMatchObject([{ userId }]);

    app.bus.publish = publish;
    const isFinished = async () => {
      app.relay.kick();
      await finishErasures(app, 0);
      return (await app.store.erasure.unfinished(10)).length === 0;
    };
    await waitFor(isFinished, { what: 'the end of the erasure', timeoutMs: 10_000 });
    expect(await app.store.outbox.holds(auditEventsOf({ projectId, userId }))).toBe(false);
  });
});
