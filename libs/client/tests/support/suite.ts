import type { TestPlatform } from '@kith/testing';
import { expect, it, type TestContext } from 'vitest';
import type { BehaviourName } from './behaviours.ts';
import { type ClientWorld, reach } from './world.ts';

const unauthorized = { status: 401, code: 'auth/unauthorized', field: null, retryAfterMs: null };
const unexpected = (status: number) => ({ ...unauthorized, status, code: 'client/unexpected-answer' });
const fifty = Array(50).fill(0);
const expected: Record<BehaviourName, unknown> = {
  signsUpAndCalls: {
    names: ['Ada', 'Ada', 'Livres – 本', 'Livres – 本'],
    saved: [true, false],
    unread: 0,
    exported: [true, ['Livres – 本', 'root']],
    gone: true,
    sessions: [1, 1, true, null],
    session: null,
    changes: ['signed-in', 'signed-out'],
    signedOut: unauthorized,
  },
  signsOutEvenIfTheStoreFails: {
    signedOut: { failure: 'Error: The store is away.' },
    sent: [true],
    session: null,
    later: unauthorized,
  },
  // Each of the fifty calls is sent, refused, and sent once more.
  refreshesOnceForRefusedTokens: { counts: fifty, refreshes: 1, calls: 100 },
  refreshesOnceBeforeExpiry: { counts: fifty, refreshes: 1, calls: 50 },
  refreshesOnceInTwoTabs: { counts: [0, 0, 0], tokens: 1, refreshes: 1, calls: 6 },
  refreshesThroughALostAnswer: { count: 0, refreshes: 2, isSignedIn: true },
  endsWhereATokenWasUsedTwice: {
    refused: { ...unauthorized, code: 'auth/token-reuse-detected' },
    later: unauthorized,
    ends: [[null, 'ended', 'auth/token-reuse-detected']],
  },
  endsWithoutARefreshToken: {
    refused: unauthorized,
    later: unauthorized,
    ends: [[null, 'ended', 'auth/unauthorized']],
  },
  endsForTheSuspended: {
    outcome: { status: 403, code: 'auth/suspended', field: null, retryAfterMs: null },
    ends: [[null, 'ended', 'auth/suspended']],
  },
  retriesWhatIsSafe: {
    count: 0,
    reads: 3,
    // The client sends the write twice, but the platform does it once, and the second attempt gets the answer of the first.
    created: { name: 'Once', writes: 2, there: 1 },
    lost: { isTimeout: false, hasCause: true },
    signIns: 1,
    verifies: [
      [{ isTimeout: false, hasCause: true }, 1],
      [{ status: 400, code: 'auth/invalid-or-expired-token', field: null, retryAfterMs: null }, 2],
    ],
    unavailable: { answer: { markedAsRead: 0 } },
    timedOut: { answer: { markedAsRead: 0 } },
    sent: 5,
  },
  deletesThroughALostAnswer: [
    {
      deleted: { answer: null },
      changes: [[null, 'signed-out', null]],
      signedIn: { ...unauthorized, code: 'auth/invalid-credentials' },
    },
    // This is the outcome in the case `isSignedOut`: the session has already ended, so nothing is deleted, and the call
    // rejects.
    {
      deleted: unauthorized,
      changes: [
        [null, 'ended', 'auth/unauthorized'],
        [expect.anything(), 'signed-in', null],
      ],
      signedIn: { answer: 'Ada' },
    },
  ],
  keepsToItsUser: {
    // After the first attempt, no request is sent, neither as Grace nor without a user.
    outcomes: Array(4)
      .fill([
        [{ status: 429, code: 'rate-limit/exceeded', field: null, retryAfterMs: 0 }, 1],
        [{ ...unauthorized, retryAfterMs: 0 }, 1],
      ])
      .flat(),
    count: 0,
  },
  waitsForAWriteThatIsRunning: { name: 'Late' },
  honoursRetryAfter: { waited: expect.any(Number) },
  doesNotWaitForTooLong: { status: 429, code: 'rate-limit/exceeded', field: null, retryAfterMs: 300_000 },
  waitsForAPlatformThatIsAway: { count: 0, waited: expect.any(Number) },
  endsByTimeAndBySignal: {
    timedOut: { isTimeout: true, hasCause: true },
    aborted: { failure: 'Error: left the page' },
    before: { failure: 'Error: left the page' },
  },
  refusesWhatIsNoAddress: {
    outcomes: ['..', '.', ''].map((id) => ({ failure: `TypeError: entityId cannot be "${id}".` })),
    sent: 0,
  },
  refusesWhatNoHeaderCarries: {
    outcomes: [...Array(3).fill('idempotency-key'), 'authorization', 'on-behalf-of', 'last-event-id'].map(
      (name) => ({ failure: `TypeError: A header cannot carry the given value of "${name}".` }),
    ),
    sent: 0,
    trimmed: unauthorized,
    token: 'kith_sk_x',
  },
  tellsWhatIsNotTheApi: { outcomes: [200, 404, 502, 200].map(unexpected), session: null },
  takesNoOtherAnswerForAnEnd: {
    outcomes: [200, 401, 200, 200, 200].map((status) => [unexpected(status), 1]),
    later: true,
  },
  walksEveryKindOfList: {
    connections: ['Mary', 'Grace'],
    requests: ['Mo', 'Lin', 'Kim'],
    children: ['a', 'b', 'c', 'd', 'e'],
    ascending: ['a', 'b', 'c', 'd', 'e'],
    pages: [
      [2, 5, true],
      [2, 5, true],
      [1, 5, false],
    ],
    byHand: [2, 1, 1, true],
    unknown: { status: 404, code: 'collection/not-found', field: null, retryAfterMs: null },
  },
  uploadsAndTellsHowFarItIs: {
    uploads: ['file', 'Zo\u00eb "1".bin', 'file'].map((name) => ({
      originalSize: 3 * 1024 * 1024,
      name,
      isSame: true,
      grows: true,
      last: 3 * 1024 * 1024,
    })),
    image: [16, 70, ['small', 'smaller-still']],
    small: ['image/png', true],
    address: [200, 'https://example.org/a'],
    byOwnFetch: [3 * 1024 * 1024, 'own.bin', 1],
  },
  uploadsWithAnotherToken: {
    originalSize: 1024 * 1024,
    lines: ['files', 'request-new-access-token', 'files'],
  },
  uploadsOnce: {
    outcomes: [
      [{ isTimeout: false, hasCause: true }, 1],
      [{ status: 503, code: 'gateway/unavailable', field: null, retryAfterMs: 0 }, 1],
      [{ status: 504, code: 'gateway/timeout', field: null, retryAfterMs: 0 }, 1],
      [{ answer: 'file' }, 2],
    ],
    total: 2,
  },
  uploadsEndByTimeAndBySignal: {
    timedOut: { isTimeout: true, hasCause: true },
    aborted: { failure: 'Error: left the page' },
    before: { failure: 'Error: left the page' },
    total: 0,
    read: 'cut off',
  },
  endsUploadsWhoseSourceStalls: {
    outcomes: [{ isTimeout: true, hasCause: true }, { failure: 'Error: left the page' }],
    total: 0,
  },
  refusesWhatIsNoUpload: {
    outcomes: [
      { failure: 'TypeError: The file must be a Blob, a Uint8Array or a ReadableStream.' },
      0,
      { failure: 'TypeError: The file must be a Blob, a Uint8Array or a ReadableStream.' },
      0,
      { status: 400, code: 'storage/invalid-image', field: null, retryAfterMs: null },
      { status: 400, code: 'storage/invalid-body', field: 'sizes', retryAfterMs: null },
      { status: 400, code: 'storage/invalid-body', field: 'quality', retryAfterMs: null },
      { status: 413, code: 'storage/file-too-large', field: null, retryAfterMs: null },
      { status: 404, code: 'storage/not-found', field: null, retryAfterMs: null },
    ],
    total: 0,
  },
  streamsThroughCuts: {
    told: ['1 Friend 1', '2 Friend 2', '3 Friend 3', '4 Friend 4'],
    states: ['connecting', 'open', 'waiting'],
    cuts: true,
    aborted: { failure: 'Error: left the page' },
  },
  streamsFromWhereItWas: [['2', 'Two'], ['3', 'Three'], { type: 'reset', id: '3' }],
};

/** How long a behaviour has to wait at least, in ms. */
const leastWaits: Partial<Record<BehaviourName, number>> = {
  honoursRetryAfter: 500,
  waitsForAPlatformThatIsAway: 1_000,
};

/**
 * Behaviours that make fifty calls at the same time. They do not run together with other behaviours, because on a busy machine
 * some of their calls could be answered too late.
 */
const crowds: BehaviourName[] = ['refreshesOnceForRefusedTokens', 'refreshesOnceBeforeExpiry'];
const others = (Object.keys(expected) as BehaviourName[]).filter((name) => !crowds.includes(name));

/**
 * Checks the outcome of each behaviour, in Node or in a page. All behaviours except `crowds` run at the same time, because most
 * of them wait.
 */
export function testBehaviours(on: {
  platform: () => TestPlatform;
  run: (name: BehaviourName, world: ClientWorld) => Promise<unknown>;
}): void {
  const test = async (name: BehaviourName, context: TestContext) => {
    await using world = await reach(on.platform());
    const told = await on.run(name, world);
    context.expect(told).toEqual(expected[name]);
    const least = leastWaits[name];
    if (least) context.expect((told as { waited: number }).waited).toBeGreaterThan(least);
  };
  it.for(crowds)('%s', test);
  it.concurrent.for(others)('%s', test);
}
