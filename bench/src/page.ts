import { seeded, seededUuid } from './random.ts';

/** A page of twenty connections, about 5 kB, in the form of the real list of connections. */
export function samplePage(): object {
  const random = seeded(11);
  const connections = Array.from({ length: 20 }, (_, at) => ({
    id: seededUuid(random),
    connectedUser: {
      id: seededUuid(random),
      username: `user${at}`,
      name: `Person number ${at}`,
      avatar: null,
      bio: 'Likes long walks, short books and old maps.',
      location: 'Hamburg',
      reputation: at,
      createdAt: '2026-01-01T00:00:00.000Z',
    },
    connectedAt: '2026-02-01T00:00:00.000Z',
    requestedAt: '2026-01-31T00:00:00.000Z',
    message: null,
  }));
  const pagination = {
    currentPage: 1,
    totalPages: 5,
    totalCount: 100,
    hasNextPage: true,
    hasPreviousPage: false,
  };
  return { connections, pagination: { ...pagination, limit: 20 } };
}

/**
 * Makes a function that returns the page's bytes for a user. `viewer` at the end of the page is the user's id, so that a check
 * can see for which user the answer was made.
 */
export function pageFor(page: object): (userId: string) => Buffer {
  const whole = JSON.stringify({ ...page, viewer: '' });
  const front = Buffer.from(whole.slice(0, -2));
  const back = Buffer.from('"}');
  return (userId) => Buffer.concat([front, Buffer.from(userId), back]);
}
