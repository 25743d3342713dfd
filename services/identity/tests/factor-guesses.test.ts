import { randomUUID } from 'node:crypto';
import {
  confirmFactor,
  enrolFactor,
  removeUserFactors,
  requestPasswordReset,
  resetPassword,
  signIn,
  stepUp,
} from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { call } from './support/call.ts';
import { startTestIdentity, type TestIdentity } from './support/identity.ts';
import { type MailServer, startMailServer } from './support/mail-server.ts';
import { callerOfSession, makeProject, password, signUpUser } from './support/people.ts';

const home = '192.0.2.1';
const wrong = 'auth/invalid-second-factor';
const tooMany = 'auth/too-many-attempts';
const newPassword = 'another pass phrase';

describe.each(handlerEngines())('guesses of second factors on %s', (engine) => {
  const undo = new AsyncDisposableStack();
  let server: MailServer;
  let identity: TestIdentity;
  let projectId: string;
  let now = 0;
  let count = 0;
  beforeAll(async () => {
    server = undo.use(await startMailServer());
    const mails = { smtpUrl: server.url, from: 'no-reply@kith.example', times: { everyMs: 50, retryMs: 20 } };
    identity = undo.use(await startTestIdentity(engine, { mails, now: () => now }));
    projectId = await makeProject(identity.bus);
  });
  afterAll(() => undo.disposeAsync());
  // The clock stands still, so that no wait ends while the test is running.
  beforeEach(() => {
    now = Date.now();
  });

  /** A client that nobody has seen before. */
  const stranger = () => `198.51.100.${++count}`;
  const repeated = (code: string, times: number) => Array(times).fill(code);
  const mailsTo = (email: string) => server.received.filter(({ to }) => to === email);
  const answered = (answer: Awaited<ReturnType<typeof call>>) => answer.body?.code ?? answer.status;
  const times = async (many: number, show: () => ReturnType<typeof call>) => {
    const codes: unknown[] = [];
    for (let at = 0; at < many; at++) codes.push(answered(await show()));
    return codes;
  };

  /** Signs somebody up from the client `home`, and enrols an authenticator app from there. */
  const owner = async () => {
    const session = await signUpUser(identity.bus, projectId, { email: `${randomUUID()}@example.org` });
    const { id: userId, email } = session.user;
    const of = { projectId, caller: callerOfSession(session) };
    const enrol = async () => {
      const { id: factorId, secret } = (
        await call(identity.bus, enrolFactor, { ...of, body: { type: 'totp' } })
      ).body;
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now });
      const confirmed = await call(identity.bus, confirmFactor, {
        ...of,
        params: { factorId },
        body: { code },
      });
      expect(confirmed.status).toBe(200);
      return confirmed.body.recoveryCodes as string[];
    };
    const recoveryCodes = await enrol();
    const enter = (code: string | undefined, clientIp: string, given = password) =>
      call(identity.bus, signIn, { projectId, body: { email, password: given, code }, clientIp });
    const prove = (body: object, clientIp: string) => call(identity.bus, stepUp, { ...of, body, clientIp });
    return { userId, email, recoveryCodes, enrol, enter, prove };
  };

  /** Resets the password with the next mail. Anybody who reads the mailbox can do this. */
  const reset = async (email: string, clientIp: string) => {
    const before = mailsTo(email).length;
    await call(identity.bus, requestPasswordReset, { projectId, body: { email } });
    const { text } = await waitFor(async () => mailsTo(email)[before], { what: `a mail to ${email}` });
    const token = /^[\w-]{43}$/m.exec(text)?.[0] ?? '';
    const answer = await call(identity.bus, resetPassword, {
      projectId,
      body: { token, newPassword },
      clientIp,
    });
    expect(answer.status).toBe(200);
  };

  test('password resets from new clients allow no more guesses, and the user can sign in from home', async () => {
    const { email, recoveryCodes, enter } = await owner();
    const guess = (place: string) => enter('a guess', place, newPassword);
    await waitFor(async () => mailsTo(email)[0], { what: 'the notice of the factor' });
    const places: string[] = [stranger()];
    await reset(email, places[0]!);
    expect(await times(11, () => guess(places[0]!))).toEqual([...repeated(wrong, 10), tooMany]);
    for (let nth = 0; nth < 2; nth++) {
      places.push(stranger());
      await reset(email, places.at(-1)!);
      for (const place of places) {
        const refused = await guess(place);
        expect([refused.status, answered(refused)]).toEqual([429, tooMany]);
        expect(refused.headers['Retry-After']).toBe(String(30 * 2 ** nth));
      }
      expect(answered(await enter(recoveryCodes[nth], home, newPassword))).toBe(200);
      // After the user has signed in from home, other clients still have to wait.
      now += 30_000 * 2 ** nth;
      expect(await times(2, () => guess(places.at(-1)!))).toEqual([wrong, tooMany]);
    }
    // Only the factor is refused, because the password is right.
    expect(answered(await enter(undefined, places[0]!, newPassword))).toBe('auth/second-factor-required');
    now += 24 * 3600_000;
    expect(answered(await enter(recoveryCodes[2], places[0]!, newPassword))).toBe(200);
  });

  test('wrong factors are counted together for sign-in and step-up, and wrong passwords are counted separately', async () => {
    const { recoveryCodes, enter, prove } = await owner();
    const code = 'a guess';
    expect(await times(8, () => prove({ code }, stranger()))).toEqual(repeated(wrong, 8));
    expect(await times(2, () => enter(code, stranger()))).toEqual(repeated(wrong, 2));
    expect(answered(await prove({ code: recoveryCodes[0] }, stranger()))).toBe(tooMany);
    expect(answered(await enter(recoveryCodes[0], stranger()))).toBe(tooMany);
    expect(answered(await prove({ password }, stranger()))).toBe(200);
    expect(answered(await prove({ code: recoveryCodes[0] }, home))).toBe(200);
    expect(answered(await enter(recoveryCodes[1], home))).toBe(200);
    expect(await times(11, () => prove({ code }, home))).toEqual([...repeated(wrong, 10), tooMany]);
    expect(answered(await enter(recoveryCodes[2], home))).toBe(tooMany);
  });

  test('when an operator removes the factors, nobody has to wait any more', async () => {
    const { userId, enrol, prove } = await owner();
    const guess = () => prove({ code: 'a guess' }, stranger());
    expect(await times(11, guess)).toEqual([...repeated(wrong, 10), tooMany]);
    const removed = await call(identity.bus, removeUserFactors, { params: { projectId, userId } });
    expect(removed.status).toBe(204);
    await enrol();
    expect(answered(await guess())).toBe(wrong);
  });
});
