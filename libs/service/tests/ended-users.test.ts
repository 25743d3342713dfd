import { randomUUID } from 'node:crypto';
import { EndedUsers, endedUserCollection } from '@kith/service';
import { openDocuments } from '@kith/store/open';
import { availableEngines, createStore } from '@kith/testing';
import { expect, test } from 'vitest';

test.each(availableEngines())(
  'users who cannot be erased do not delay other users, and are tried again (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const place = undo.use(await createStore(engine));
    const declared = { collections: [endedUserCollection] };
    const documents = undo.adopt(await openDocuments(place.config, declared), (one) => one.close());
    const ended = new EndedUsers(documents);
    const users = Array.from({ length: 40 }, () => ({ projectId: randomUUID(), userId: randomUUID() }));
    // Users whose accounts ended at the same time are due together.
    for (const [at, user] of users.entries()) await ended.mark(user, Math.floor(at / 4));
    const isStopped = () => false;
    let isBroken = true;
    const erased: string[] = [];
    const erase = async ({ projectId, userId }: { projectId: string; userId: string }) => {
      if (isBroken && users.findIndex((user) => user.userId === userId) < 25) throw new Error('broken');
      erased.push(userId);
      await ended.lookAgain({ projectId, userId }, null);
    };
    await expect(ended.eachDue(erase, { isStopped })).rejects.toThrow('25 users not erased yet');
    expect(erased.sort()).toEqual(
      users
        .slice(25)
        .map(({ userId }) => userId)
        .sort(),
    );
    isBroken = false;
    await ended.eachDue(erase, { isStopped });
    expect(erased.sort()).toEqual(users.map(({ userId }) => userId).sort());
  },
);
