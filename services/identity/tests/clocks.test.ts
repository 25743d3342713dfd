import { getRevocations, requestNewAccessToken, signOut } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { decodeJwt } from 'jose';
import { describe, expect, test, vi } from 'vitest';
import { call, callInternal } from './support/call.ts';
import type { TestIdentity } from './support/identity.ts';
import { sessionIdOf, signUpUser } from './support/people.ts';
import { startForSuite } from './support/suite.ts';

const minute = 60_000;

/**
 * Sets the clock of this process. In this way, the process acts as several replicas with different clocks, one after the other.
 */
function clockAt(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: ms });
}

describe.each(handlerEngines())('clocks that differ, on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  startForSuite(engine, (started, project) => {
    identity = started;
    projectId = project;
  });
  const refresh = (refreshToken: string) =>
    call(identity.bus, requestNewAccessToken, { projectId, body: { refreshToken } });

  test('if the clocks are a minute apart, a revoked session is listed as long as a gateway would accept its token', async () => {
    const now = Date.now();
    clockAt(now + minute);
    const { accessToken, refreshToken } = await signUpUser(identity.bus, projectId);
    clockAt(now - minute);
    await call(identity.bus, signOut, { projectId, body: { refreshToken } });
    // A gateway whose clock is a minute behind accepts the token until this time.
    const gatewayNow = (decodeJwt(accessToken).exp ?? 0) * 1000 - 1;
    const trueNow = gatewayNow + minute;
    clockAt(trueNow + minute);
    const told = JSON.parse(await callInternal(identity.bus, getRevocations, { after: null }));
    const found = told.sessions.find(
      ({ sessionId }: { sessionId: string }) => sessionId === sessionIdOf(accessToken),
    );
    expect(Date.parse(found?.until)).toBeGreaterThan(gatewayNow);
  });

  // The embedded form has only one process, and so only one clock, so this test does not apply to it.
  test.skipIf(engine === 'embedded').each([-minute, minute])(
    'a refresh token keeps its grace period even if the clock of the rotating replica is %i ms off',
    async (off) => {
      const { refreshToken } = await signUpUser(identity.bus, projectId);
      const now = Date.now();
      clockAt(now + off);
      const successor = (await refresh(refreshToken)).body.refreshToken;
      clockAt(now);
      const again = await refresh(refreshToken);
      expect([again.status, again.body.refreshToken]).toEqual([200, successor]);
    },
  );
});
