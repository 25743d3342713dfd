import { randomUUID } from 'node:crypto';
import { type EventEnvelope, userCreated, userUpdated } from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { profileOf } from '../whole/seed.ts';

const projectId = '00000000-0000-4000-8000-000000000000';
/**
 * The number of users. The events of different users alternate, so that the events of one user do not directly follow each
 * other.
 */
const users = 1_000;
/** How many events each user has. The first event announces a new user, and the others announce changes of the user. */
const each = 5;

/**
 * Returns the benchmark's event number `at`, counted from 0. Every process has the same order of events. The event occurs now.
 */
export function userEvent(at: number): EventEnvelope {
  const block = Math.floor(at / (users * each));
  const user = block * users + (at % users);
  const seq = Math.floor((at % (users * each)) / users) + 1;
  const id = `00000000-0000-4000-8000-${(user + 1).toString(16).padStart(12, '0')}`;
  return {
    ...makeEvent(seq === 1 ? userCreated : userUpdated, {
      projectId,
      actorId: id,
      aggregate: { type: 'user', id, seq },
      data: { ...profileOf(projectId, id, user), bannerFileId: null, avatarFileId: null },
      occurredAt: new Date(),
    }),
    id: randomUUID(),
  };
}
