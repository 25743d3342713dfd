import { randomUUID } from 'node:crypto';
import { ApiError, makeApiKey } from '@kith/base';
import { createProject, getUser, listConnections, signIn } from '@kith/contracts';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AccessToken } from './access-token.ts';
import { Callers } from './caller.ts';
import { type KeySet, tokenAlgorithm } from './keys.ts';
import { TokenVerifier } from './token.ts';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
const projectId = randomUUID();
const userId = randomUUID();
let ours: Pair;
let theirs: Pair;
let keySet: KeySet;

async function keySetOf(pair: Pair, kid: string): Promise<KeySet> {
  const key = { ...(await exportJWK(pair.publicKey)), kid, alg: tokenAlgorithm, use: 'sig' };
  return { text: JSON.stringify(key), kids: new Set([kid]), find: createLocalJWKSet({ keys: [key] }) };
}

beforeAll(async () => {
  [ours, theirs] = await Promise.all([generateKeyPair(tokenAlgorithm), generateKeyPair(tokenAlgorithm)]);
  keySet = await keySetOf(ours, 'k1');
});

function keysOf(set: KeySet | undefined) {
  return {
    asked: 0,
    current: set,
    async having() {
      this.asked++;
      if (!this.current) throw new ApiError('gateway/unavailable');
      return this.current;
    },
  };
}

const now = () => Math.floor(Date.now() / 1000);
function claims(): JWTPayload {
  return {
    sub: userId,
    projectId,
    sid: 'session-1',
    role: 'visitor',
    jti: randomUUID(),
    iss: 'kith',
    aud: 'kith.dev',
    iat: now(),
    exp: now() + 60,
  };
}
const sign = (payload: JWTPayload, key = ours.privateKey, header: { alg?: string; kid?: string } = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg: tokenAlgorithm, kid: 'k1', ...header }).sign(key);
const without = (name: string) =>
  Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name));
const verifier = (options: Partial<ConstructorParameters<typeof TokenVerifier>[0]> = {}) =>
  new TokenVerifier({ keys: keysOf(keySet), issuer: 'kith', audience: 'kith.dev', ...options });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof ApiError ? error.code : error),
  );

describe('TokenVerifier', () => {
  it('returns the content of a valid token', async () => {
    const payload = claims();
    expect(await verifier().verify(await sign(payload))).toEqual({
      userId,
      projectId,
      sessionId: 'session-1',
      role: 'visitor',
      keyId: 'k1',
      issuedAt: payload.iat,
      expiresAt: payload.exp,
    });
  });

  it('refuses a token that has expired, comes from another issuer, or lacks a claim', async () => {
    const bad = [
      sign({ ...claims(), exp: now() - 1 }),
      sign({ ...claims(), exp: now() + 31 * 60 + 1 }),
      sign({ ...claims(), nbf: now() + 60 }),
      sign({ ...claims(), iss: 'other' }),
      sign({ ...claims(), aud: 'other' }),
      sign({ ...claims(), sub: 'not-a-uuid' }),
      sign({ ...claims(), projectId: 7 }),
      sign({ ...claims(), sid: 'two\r\nlines' }),
      sign(claims(), theirs.privateKey),
      sign(claims(), ours.privateKey, { kid: 'k2' }),
      ...['sub', 'projectId', 'sid', 'role', 'jti', 'iss', 'aud', 'iat', 'exp'].map((name) =>
        sign(without(name)),
      ),
    ];
    for (const token of bad) expect(await codeOf(verifier().verify(await token))).toBe('auth/unauthorized');
  });

  it('says why a token is refused, in the words of spec#errors-unauthorized-reason', async () => {
    const why = async (token: string, set = verifier()) =>
      set.verify(token).then(
        () => undefined,
        (error: Error) => error.message,
      );
    const anonymous = await new SignJWT(claims())
      .setProtectedHeader({ alg: tokenAlgorithm })
      .sign(ours.privateKey);
    const over = { ...claims(), exp: now() - 1 };
    expect(await why(await sign(over))).toMatch(/has expired/);
    // The key `k2` signed this token, and was removed afterwards.
    const removed = [theirs.privateKey, { kid: 'k2' }] as const;
    expect(await why(await sign(over, ...removed))).toMatch(/has expired/);
    const foreign = [
      sign(claims(), theirs.privateKey),
      sign({ ...claims(), iss: 'other' }),
      sign(over, theirs.privateKey),
      ...[claims(), { ...over, iss: 'other' }, { ...over, aud: 'other' }, { ...over, exp: 'soon' }].map(
        (payload) => sign(payload as JWTPayload, ...removed),
      ),
    ];
    for (const token of foreign) expect(await why(await token)).toMatch(/Another server has signed/);
    for (const token of ['null', 'a.b.c', '..']) expect(await why(token)).toMatch(/is malformed/);
    const keys = [makeApiKey('server'), makeApiKey('operator')];
    const others = [anonymous, await sign(without('sid')), 'x'.repeat(68), ...keys];
    for (const token of others) expect(await why(token)).toMatch(/another kind of token/);
    const revocations = {
      isLoaded: true,
      loaded: async () => {},
      check: () => {},
      hasKey: (keyId: string) => keyId === 'k0',
    };
    const gone = await sign(claims(), theirs.privateKey, { kid: 'k0' });
    expect(await why(gone, verifier({ revocations }))).toMatch(/was revoked/);
    const goneAndOver = await sign(over, theirs.privateKey, { kid: 'k0' });
    expect(await why(goneAndOver, verifier({ revocations }))).toMatch(/has expired/);
  });

  it('refuses other algorithms and forms without asking for a key', async () => {
    const keys = keysOf(undefined);
    const secret = new TextEncoder().encode('x'.repeat(32));
    const hmac = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(secret);
    const pss = await sign(claims(), (await generateKeyPair('PS256')).privateKey, { alg: 'PS256' });
    const [, payload] = hmac.split('.');
    const none = `${Buffer.from('{"alg":"none","kid":"k1"}').toString('base64url')}.${payload}.`;
    const anonymous = await new SignJWT(claims())
      .setProtectedHeader({ alg: tokenAlgorithm })
      .sign(ours.privateKey);
    for (const token of [hmac, pss, none, anonymous, '', 'null', 'a.b.c', '..', `${hmac}.x`]) {
      expect(await codeOf(verifier({ keys }).verify(token))).toBe('auth/unauthorized');
    }
    expect(keys.asked).toBe(0);
  });

  it('throws gateway/unavailable while there are no keys', async () => {
    expect(await codeOf(verifier({ keys: keysOf(undefined) }).verify(await sign(claims())))).toBe(
      'gateway/unavailable',
    );
  });

  it('caches a verified token until it expires or the keys change', async () => {
    const keys = keysOf(keySet);
    const tokens = verifier({ keys });
    const token = await sign(claims());
    const shortLived = await sign({ ...claims(), exp: now() + 2 });
    for (const one of [token, token, shortLived, shortLived]) await tokens.verify(one);
    expect(keys.asked).toBe(2);
    await expect.poll(() => codeOf(tokens.verify(shortLived)), { timeout: 5_000 }).toBe('auth/unauthorized');
    keys.current = await keySetOf(theirs, 'k1');
    expect(await codeOf(tokens.verify(token))).toBe('auth/unauthorized');
  });

  it('caches no more tokens than cacheSize', async () => {
    const keys = keysOf(keySet);
    const tokens = verifier({ keys, cacheSize: 2 });
    const [a, b, c] = await Promise.all([sign(claims()), sign(claims()), sign(claims())]);
    for (const one of [a, b, a, c]) await tokens.verify(one);
    expect(keys.asked).toBe(3);
    await tokens.verify(a);
    expect(keys.asked).toBe(3);
    await tokens.verify(b);
    expect(keys.asked).toBe(4);
  });

  it('checks for every token whether it is revoked, even for a cached token', async () => {
    const revoked = new Set<string>();
    const check = ({ sessionId }: Pick<AccessToken, 'sessionId'>) => {
      if (revoked.has(sessionId)) throw new ApiError('auth/suspended');
    };
    const tokens = verifier({
      revocations: { isLoaded: true, loaded: async () => {}, check, hasKey: () => false },
    });
    const token = await sign(claims());
    await tokens.verify(token);
    revoked.add('session-1');
    expect(await codeOf(tokens.verify(token))).toBe('auth/suspended');
  });
});

describe('Callers', () => {
  const caller = { userId, sessionId: 'session-1', role: 'visitor', projectId };
  const callers = (options: { keys?: ReturnType<typeof keysOf>; operatorToken?: string } = {}) =>
    new Callers({
      tokens: verifier(options.keys ? { keys: options.keys } : {}),
      operatorToken: options.operatorToken,
    });
  const elsewhere = randomUUID();

  it('accepts a user with a valid token of the project', async () => {
    const token = await sign(claims());
    const at = { operation: listConnections, projectId };
    for (const header of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}  `]) {
      expect(await callers().identify(header, at)).toEqual(caller);
    }
    for (const header of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer null',
      token,
      `Basic ${token}`,
      `Bearer a ${token}`,
    ]) {
      expect(await codeOf(callers().identify(header, at))).toBe('auth/unauthorized');
    }
    expect(await codeOf(callers().identify(`Bearer ${token}`, { ...at, projectId: elsewhere }))).toBe(
      'auth/forbidden',
    );
  });

  it('uses a valid token if tokens are optional, and treats any other token as no token', async () => {
    const token = await sign(claims());
    const expired = await sign({ ...claims(), exp: now() - 1 });
    const at = { operation: getUser, projectId };
    expect(await callers().identify(`Bearer ${token}`, at)).toEqual(caller);
    for (const header of [undefined, 'Bearer null', 'Basic eA==', `Bearer ${expired}`]) {
      expect(await callers().identify(header, at)).toBeNull();
    }
    expect(await callers().identify(`Bearer ${token}`, { ...at, projectId: elsewhere })).toBeNull();
    const away = callers({ keys: keysOf(undefined) });
    expect(await away.identify(undefined, at)).toBeNull();
    expect(await codeOf(away.identify(`Bearer ${token}`, at))).toBe('gateway/unavailable');
  });

  it('ignores a token if the operation needs none', async () => {
    expect(await callers().identify('Bearer nonsense', { operation: signIn, projectId })).toBeNull();
  });

  it('says in the error whether a token is missing or of the wrong kind', async () => {
    const why = (header: string | undefined, operation: typeof listConnections | typeof createProject) =>
      callers({ operatorToken: 'open-sesame' })
        .identify(header, { operation, projectId: null })
        .then(
          () => undefined,
          (error: Error) => error.message,
        );
    for (const operation of [listConnections, createProject]) {
      expect(await why(undefined, operation)).toMatch(/^No token/);
      expect(await why('Basic eA==', operation)).toMatch(/no bearer token/);
    }
    expect(await why(`Bearer ${await sign(claims())}`, createProject)).toMatch(
      /takes the token of an operator/,
    );
    expect(await why('Bearer open', createProject)).toMatch(/does not belong to an operator/);
  });

  it("accepts an operator only with the operator's token", async () => {
    const at = { operation: createProject, projectId: null };
    const set = callers({ operatorToken: 'open-sesame' });
    expect(await set.identify('bearer open-sesame', at)).toBeNull();
    const user = await sign(claims());
    for (const header of [undefined, 'Bearer open-sesame2', 'Bearer ', `Bearer ${user}`]) {
      expect(await codeOf(set.identify(header, at))).toBe('auth/unauthorized');
      expect(await codeOf(callers().identify(header, at))).toBe('auth/unauthorized');
    }
    expect(await codeOf(callers().identify('Bearer undefined', at))).toBe('auth/unauthorized');
  });
});
