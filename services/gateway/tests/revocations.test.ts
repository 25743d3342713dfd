import { randomUUID } from 'node:crypto';
import type { ApiError } from '@kith/base';
import type { Bus } from '@kith/bus';
import { listConnections, noticeSubject, type RevocationNotice, revocationNotice } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Revocations } from '../src/auth/revocations.ts';
import {
  expectError,
  projectId,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  type TestIssuer,
  userId,
} from './harness.ts';

const soon = () => new Date(Date.now() + 60_000).toISOString();

describe.each(handlerEngines())('revocations on %s', (engine) => {
  let test: TestGateway;
  let issuer: TestIssuer;
  beforeEach(async () => {
    test = await startTestGateway(engine, { env: { RATE_LIMIT_SCALE: '0' } });
    issuer = await serveIssuer(test.bus);
    await serveEcho(test.bus, listConnections);
    await waitFor(async () => (await test.gateway.notReady()).length === 0, { what: 'readiness' });
  });
  afterEach(() => test[Symbol.asyncDispose]());

  const tell = (bus: Bus, notice: Partial<RevocationNotice>) =>
    bus.broadcast(
      noticeSubject(bus.prefix, revocationNotice),
      new TextEncoder().encode(
        JSON.stringify({ sessions: [], suspended: [], restored: [], keys: [], ...notice }),
      ),
    );
  const ask = async (token: string, port = test.gateway.port) =>
    send(port, {
      path: `/${projectId}/connections`,
      headers: { authorization: `Bearer ${token}` },
    });
  const until = (token: string, status: number) =>
    waitFor(async () => (await ask(token)).status === status, { what: `a ${status}` });

  it('refuses a revoked session immediately, even if its token was verified before, and refuses no other session', async () => {
    const sessionId = randomUUID();
    const token = await issuer.token({ sid: sessionId });
    const other = await issuer.token();
    expect((await ask(token)).status).toBe(200);
    await tell(test.bus, { sessions: [{ sessionId, until: soon() }] });
    await until(token, 401);
    const answer = await ask(token);
    expectError(answer, 'auth/unauthorized');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expectError(await ask(await issuer.token({ sid: sessionId })), 'auth/unauthorized');
    expect((await ask(other)).status).toBe(200);
  });

  it('answers auth/suspended to a suspended user in every session, until the user is restored', async () => {
    const sessionId = randomUUID();
    const token = await issuer.token({ sid: sessionId });
    const stranger = await issuer.token({ sub: randomUUID() });
    await tell(test.bus, {
      sessions: [{ sessionId, until: soon() }],
      suspended: [{ userId, until: soon() }],
    });
    await until(token, 403);
    expectError(await ask(token), 'auth/suspended');
    expectError(await ask(await issuer.token()), 'auth/suspended');
    expect((await ask(stranger)).status).toBe(200);
    await tell(test.bus, { restored: [userId] });
    await until(token, 401);
    expect((await ask(await issuer.token())).status).toBe(200);
  });

  it('refuses all tokens of a revoked key immediately: verified ones, too, and also at a gateway that starts later', async () => {
    const token = await issuer.token();
    const kid = String(decodeProtectedHeader(token).kid);
    expect((await ask(token)).status).toBe(200);
    await issuer.rotate({ keepOld: true });
    await tell(test.bus, { keys: [kid] });
    await until(token, 401);
    issuer.revoked.keys.push(kid);
    // A replica of identity that has not heard of the revocation still has the key in its key set.
    const started = await test.another();
    expectError(await ask(token, started.port), 'auth/unauthorized');
    for (const port of [test.gateway.port, started.port]) {
      expect((await ask(await issuer.token(), port)).status).toBe(200);
      expectError(await ask(token, port), 'auth/unauthorized');
    }
  });

  it('loads revoked keys again, so that it learns of keys whose notice it has missed', async () => {
    const { log } = test.runtime;
    const revocations = await Revocations.open({ bus: test.bus, log, refreshMs: 0 });
    const check = () => revocations.check({ userId, sessionId: 's', keyId: 'leaked' });
    expect(check).not.toThrow();
    issuer.revoked.keys.push('leaked');
    await waitFor(() => {
      expect(check).toThrow('was revoked');
      return true;
    });
    await revocations.stop();
  });

  it('a gateway that starts waits for identity no longer than a request does', async () => {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    issuer.hold = () => end;
    const { log } = test.runtime;
    const revocations = await Revocations.open({ bus: test.bus, log, timeoutMs: 120_000 });
    expect(revocations.isLoaded).toBe(false);
    resolve();
    await waitFor(() => revocations.isLoaded);
    await revocations.stop();
  });

  it('ignores revocations whose time is over', async () => {
    const sessionId = randomUUID();
    const over = new Date(Date.now() - 1).toISOString();
    await tell(test.bus, { sessions: [{ sessionId, until: over }], suspended: [{ userId, until: over }] });
    const later = await issuer.token();
    await tell(test.bus, { sessions: [{ sessionId: 'last', until: soon() }] });
    await until(await issuer.token({ sid: 'last' }), 401);
    expect((await ask(await issuer.token({ sid: sessionId }))).status).toBe(200);
    expect((await ask(later)).status).toBe(200);
  });

  it('survives a malformed notice', async () => {
    await test.bus.broadcast(
      noticeSubject(test.bus.prefix, revocationNotice),
      new TextEncoder().encode('nonsense'),
    );
    await tell(test.bus, { sessions: [{ sessionId: 'after', until: soon() }] });
    expect(await until(await issuer.token({ sid: 'after' }), 401)).toBe(true);
  });

  it('loads earlier revocations before it accepts any token, and keeps them while identity is away', async () => {
    const sessionId = randomUUID();
    issuer.revoked.sessions.push({ sessionId, until: soon() });
    issuer.revoked.suspended.push({ userId, until: soon() });
    const gateway = await test.another();
    expect(await gateway.notReady()).toEqual([]);
    const revoked = await issuer.token({ sid: sessionId, sub: randomUUID() });
    await issuer.stop();
    expectError(await ask(revoked, gateway.port), 'auth/unauthorized');
    expectError(await ask(await issuer.token(), gateway.port), 'auth/suspended');
  });

  it('keeps changes that it heard while an answer with the whole table was on its way', async () => {
    const [heard, restored, gone] = [randomUUID(), randomUUID(), randomUUID()];
    const { log } = test.runtime;
    issuer.revoked.suspended.push({ userId: restored, until: soon() }, { userId: gone, until: soon() });
    const revocations = await Revocations.open({ bus: test.bus, log, refreshMs: 0 });
    const codeOf = async (user: string) => {
      await revocations.loaded();
      try {
        revocations.check({ userId: user, sessionId: 's', keyId: 'k' });
        return 'fine';
      } catch (error) {
        return (error as ApiError).code;
      }
    };
    expect(await codeOf(gone)).toBe('auth/suspended');
    const { promise: asked, resolve: begin } = Promise.withResolvers<void>();
    const { promise: over, resolve: finish } = Promise.withResolvers<void>();
    const { promise: told, resolve: end } = Promise.withResolvers<void>();
    issuer.revoked.suspended.pop();
    let asks = 0;
    issuer.hold = async () => {
      begin();
      // The first answer is held back until `end()`. All further answers are held back until the test is over. The test sends
      // the notice itself, so the issuer's table does not contain the changes of the notice. If the gateway asked for the table
      // after the notice, the answer would undo these changes.
      await (asks++ === 0 ? told : over);
    };
    await asked;
    await tell(test.bus, { suspended: [{ userId: heard, until: soon() }], restored: [restored] });
    await waitFor(async () => (await codeOf(heard)) === 'auth/suspended');
    end();
    await waitFor(async () => (await codeOf(gone)) === 'fine', { what: 'the answer' });
    expect(await codeOf(heard)).toBe('auth/suspended');
    expect(await codeOf(restored)).toBe('fine');
    finish();
    await revocations.stop();
  });
});
