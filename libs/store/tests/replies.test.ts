// Starts no platform and at most 40 processes.
import { randomUUID } from 'node:crypto';
import { type Documents, HeldChanges, type Replies, type StoreConfig } from '@kith/store';
import { availableEngines, createStore, dieBeforeEachWrite, runUntilDeath, waitFor } from '@kith/testing';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDocuments } from '../src/documents/open-documents.ts';
import { box, boxes, things, totals } from './documents-support/shelf.ts';
import { answered, declaredWithReplies, makeBoxes } from './documents-support/shelf-request.ts';

const child = new URL('./documents-support/dying-reply.ts', import.meta.url);

describe.each(availableEngines())('answers that are stored with their change (%s)', (engine) => {
  let place: { config: StoreConfig } & AsyncDisposable;
  let documents: Documents;
  let replies: Replies;
  beforeEach(async () => {
    place = await createStore(engine);
    documents = await openDocuments(place.config, declaredWithReplies);
    replies = documents.replies as Replies;
  });
  afterEach(async () => {
    await documents.close();
    await place[Symbol.asyncDispose]();
  });

  const claim = async (key: string, forMs = 10_000) => {
    const begun = await replies.begin(key, forMs);
    if (typeof begun === 'string' || !('token' in begun)) throw new Error('The request was begun before.');
    return begun;
  };
  const held = async (key: string) => {
    const changes = new HeldChanges(replies);
    await changes.run(() => makeBoxes(documents, key));
    return changes.changes;
  };
  /** What is stored for a key: boxes, the things in the boxes, and the counts. */
  const made = async (key: string) => {
    const found = await documents.range(boxes, { above: `${key}-`, below: `${key}.`, limit: 100 });
    const rows = await documents.range(things, { above: `${key}-`, below: `${key}.`, limit: 100 });
    const own = found.filter(({ doc }) => doc.owner === key);
    return [own.length, rows.length, (await documents.sums(totals, [key])).get(key)?.boxes];
  };

  it('changes are held, and made together with the answer', async () => {
    const begun = await claim('a');
    const changes = await held('a');
    expect(await made('a')).toEqual([0, 0, 0]);
    expect(await replies.begin('a', 10_000)).toBe('running');
    expect(await replies.keep(changes, begun, answered('first'))).toBe('made');
    expect(await made('a')).toEqual([1, 1, 1]);
    expect(await replies.begin('a', 10_000)).toMatchObject({ sealed: 'first' });
    await replies.release(begun);
    expect(await replies.begin('a', 10_000)).toMatchObject({ sealed: 'first' });
  });

  it('a request counts as running, even if the clock of its replica is seconds ahead', async () => {
    const now = Date.now();
    const ahead = vi.spyOn(Date, 'now').mockReturnValue(now + 3_000);
    const begun = await claim('ahead').finally(() => ahead.mockRestore());
    expect(await replies.begin('ahead', 10_000)).toBe('running');
    expect(await replies.keep(await held('ahead'), begun, answered('first'))).toBe('made');
  });

  it('a refused request leaves nothing behind, and its work gets the refusal when it runs again', async () => {
    await documents.change([{ in: boxes, target: 'there', set: box({ owner: 'ann', label: 'Taken' }) }]);
    const begun = await claim('b');
    const work = async () => {
      const [outcome] = await documents.change([
        { in: boxes, target: 'new', set: box({ owner: 'ann', label: 'Taken' }) },
      ]);
      if (outcome === 'made') await documents.change([{ in: boxes, target: 'lid', set: box() }]);
      return outcome;
    };
    const first = new HeldChanges(replies);
    expect(await first.run(work)).toBe('made');
    const kept = await replies.keep(first.changes, begun, answered('no'));
    expect(kept).toEqual({ at: 0, refusal: { taken: 'label' } });
    expect((await documents.get(boxes, ['new', 'lid'])).size).toBe(0);
    const again = new HeldChanges(replies, kept as { at: number; refusal: { taken: string } });
    expect(await again.run(work)).toEqual({ taken: 'label' });
    expect(again.changes).toEqual([]);
    await replies.release(begun);
    await claim('b');
  });

  it('if a request is refused, its new target with rows and counters is stored completely or not at all', async () => {
    await documents.change([{ in: boxes, target: 'there', set: box({ owner: 'ann', label: 'Taken' }) }]);
    const begun = await claim('b');
    const work = new HeldChanges(replies);
    await work.run(async () => {
      await documents.change([{ in: boxes, target: 'new', set: box({ owner: 'ann', label: 'Taken' }) }]);
      await documents.change([
        {
          ...{ in: boxes, target: 'b-1', set: box({ owner: 'b', things: 1 }) },
          rows: [{ in: things, id: 'b-1|1', put: { at: 1 } }],
          counters: [{ in: totals, id: 'b', add: { boxes: 1 } }],
        },
      ]);
    });
    const kept = await replies.keep(work.changes, begun, answered('no'));
    // SQLite makes all changes of a request or none. MongoDB has stored the box `b-1` with its row and counter, although the
    // request was refused. If the request is repeated, it finds this box.
    const whole = engine === 'containers' ? 1 : 0;
    expect(kept).toEqual({ at: 0, refusal: { taken: 'label' }, ...(whole === 1 && { isPartly: true }) });
    expect(await made('b')).toEqual([whole, whole, whole]);
  });

  it('a request whose claim was taken over cannot store anything', async () => {
    const late = await claim('c', 1);
    await waitFor(async () => Date.now() > 0 && (await replies.begin('c', 5_000)) !== 'running', {
      what: 'the end of the claim',
    });
    expect(await replies.keep(await held('c'), late, answered('late'))).toBe('lost');
    expect(await made('c')).toEqual([0, 0, 0]);
    await replies.release(late);
    expect(await replies.begin('c', 5_000)).toBe('running');
  });

  it('an answer is deleted with its user, and when it has expired', async () => {
    await replies.keep(await held('d'), await claim('d'), answered('first'));
    await replies.forget({ projectId: 'p', userId: 'bob' });
    expect(await replies.begin('d', 1_000)).toMatchObject({ sealed: 'first' });
    await replies.forget({ projectId: 'p', userId: 'ann' });
    const begun = await claim('d');
    await replies.keep(await held('d'), begun, answered('second', Date.now() - 1));
    await claim('d');
    expect(await made('d')).toEqual([2, 2, 2]);
    await documents.sweep();
  });

  it.runIf(engine === 'containers')(
    'claims of dead requests are deleted with their user, even if a server key made the requests',
    async () => {
      const { config } = place;
      if (config.kind !== 'mongo') throw new Error('Not on MongoDB.');
      const ids = ['p|ann|op|1', 'p|ann~key|op|2', 'p|bob~key|op|3'];
      for (const id of ids) await replies.begin(id, 1);
      const begunAt = Date.now();
      await waitFor(() => Date.now() > begunAt + 1, { what: 'the end of the claims' });
      await replies.forget({ projectId: 'p', userId: 'ann' });
      await using client = new MongoClient(config.url);
      const left = client.db(config.database).collection('replies').find();
      expect((await left.toArray()).map(({ _id }) => String(_id))).toEqual(['p|bob~key|op|3']);
    },
  );

  it('a repeated request makes its change exactly once, even if its process dies before any write', {
    timeout: 240_000,
  }, async () => {
    const outcomes = new Set<string>();
    const deaths = await dieBeforeEachWrite(async (number) => {
      const key = `k${randomUUID()}`;
      const death = await runUntilDeath(child, { store: place.config, key, number });
      // Repeats the request as often as needed.
      const answer = await waitFor(
        async () => {
          const begun = await replies.begin(key, 10_000);
          if (begun === 'running') return undefined;
          if (!('token' in begun)) return begun.sealed;
          const kept = await replies.keep(await held(key), begun, answered('the parent'));
          return kept === 'made' ? 'the parent' : undefined;
        },
        { what: 'the end of the claim' },
      );
      if (death.acknowledged) expect(answer).toBe('the child');
      outcomes.add(answer);
      expect(await made(key)).toEqual([1, 1, 1]);
      expect(await replies.begin(key, 10_000)).toMatchObject({ sealed: answer });
      return death;
    });
    expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
    expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
    expect(outcomes).toEqual(new Set(['the child', 'the parent']));
  });
});
