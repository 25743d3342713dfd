import type { RunningService, ServiceRuntime } from '@kith/service';
import { createRuntime, handlerEngines } from '@kith/testing';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCrypto } from '../src/index.ts';
import { badPems, base64Of, goodPems, oddPems, publicKey } from './keys.ts';
import { sign } from './sign.ts';

const privateKey = base64Of(goodPems.pkcs8);
const payload = { id: 'user-1', name: 'Ada', role: 'admin', plan: { seats: 3 }, tags: ['a', null] };
const good = { projectId: 'any project', privateKey, payload };

describe.each(handlerEngines())('crypto.sign-testing-jwt (%s)', (engine) => {
  let runtime: ServiceRuntime & AsyncDisposable;
  let service: RunningService;
  beforeAll(async () => {
    runtime = await createRuntime(engine);
    service = await startCrypto(runtime, { allowTestTokens: true });
  });
  afterAll(async () => {
    await service?.stop();
    await runtime?.[Symbol.asyncDispose]();
  });

  const verified = async (body: unknown) => {
    const answer = await sign(runtime.bus, body);
    expect(answer.status).toBe(200);
    const { token, ...rest } = answer.body as { token: string };
    expect(rest).toEqual({});
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'JWT' });
    const { payload } = await jwtVerify(token, publicKey, { algorithms: ['RS256'] });
    return payload;
  };

  test('signs the claims of the contract', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { iat, exp, ...claims } = await verified(good);
    expect(iat).toBeGreaterThanOrEqual(before);
    expect(iat).toBeLessThanOrEqual(Date.now() / 1000);
    expect(exp).toBe((iat ?? 0) + 300);
    expect(claims).toEqual({
      sub: 'user-1',
      iss: 'any project',
      aud: 'kith.dev',
      name: 'Ada',
      role: 'admin',
      userData: payload,
    });
  });

  test.each(Object.entries(goodPems))('signs with a %s key', async (_, pem) => {
    expect((await verified({ ...good, privateKey: base64Of(pem) })).sub).toBe('user-1');
  });

  test.each(['\n', '\r\n'])('accepts line breaks inside the base64 (%j)', async (lineBreak) => {
    const lines = privateKey.match(/.{1,64}/g) ?? [];
    expect((await verified({ ...good, privateKey: `${lines.join(lineBreak)}${lineBreak}` })).sub).toBe(
      'user-1',
    );
  });

  test('puts name and role only into userData, not into claims, if they are not strings', async () => {
    const odd = { id: 'user-2', name: 7, role: null };
    const claims = await verified({ ...good, payload: odd });
    expect(claims).not.toHaveProperty('name');
    expect(claims).not.toHaveProperty('role');
    expect(claims.userData).toEqual(odd);
  });

  test('accepts a payload without name and role, and does not copy claims from the payload', async () => {
    const sly = { id: 'user-3', sub: 'other', iss: 'other', exp: 9_999_999_999, aud: 'other' };
    const { iat, exp, ...claims } = await verified({ ...good, payload: sly });
    expect((exp ?? 0) - (iat ?? 0)).toBe(300);
    expect(claims).toEqual({ sub: 'user-3', iss: 'any project', aud: 'kith.dev', userData: sly });
    expect((await verified({ ...good, payload: { id: 'é😀' } })).sub).toBe('é😀');
  });

  test('accepts a blank id and a blank project id without changing them', async () => {
    const { sub, iss } = await verified({ ...good, projectId: ' ', payload: { id: '  ' } });
    expect([sub, iss]).toEqual(['  ', ' ']);
  });

  const { payload: _payload, ...noPayload } = good;
  const { projectId: _projectId, ...noProject } = good;
  const { privateKey: _privateKey, ...noKey } = good;
  const id = ['payload.id', /^The user id is missing from the payload: payload\.id must be /] as const;
  const whole = ['payload', /^payload (is required|must be a JSON object)\.$/] as const;
  const project = ['projectId', /^projectId (is required|must be a string|must not be empty)\.$/] as const;
  const key = ['privateKey', /^privateKey (is required|must be a string|must not be empty)\.$/] as const;
  test.each([
    ['no id', { ...good, payload: { name: 'Ada' } }, id],
    ['an empty id', { ...good, payload: { id: '' } }, id],
    ['a number as id', { ...good, payload: { id: 7 } }, id],
    ['null as id', { ...good, payload: { id: null } }, id],
    ['an empty payload and nothing else', { payload: {} }, id],
    ['no payload', noPayload, whole],
    ['an array as payload', { ...good, payload: ['id'] }, whole],
    ['null as payload', { ...good, payload: null }, whole],
    ['a text as payload', { ...good, payload: 'id' }, whole],
    ['nothing at all', {}, whole],
    ['no project id', noProject, project],
    ['an empty project id', { ...good, projectId: '' }, project],
    ['a number as project id', { ...good, projectId: 1 }, project],
    ['no key', noKey, key],
    ['an empty key', { ...good, privateKey: '' }, key],
    ['an object as key', { ...good, privateKey: {} }, key],
    ['neither project id nor key', { payload }, project],
  ])('refuses %s', async (_, body, [field, message]) => {
    const answer = await sign(runtime.bus, body);
    const { errors: _several, ...refused } = answer.body;
    expect(refused).toEqual({
      error: expect.stringMatching(message),
      code: 'crypto/missing-params',
      field,
    });
    expect(answer.status).toBe(400);
  });

  const unsupported = 'error:1E08010C:DECODER routines::unsupported';
  const tooLong = 'The RSA key has private numbers that are too long for its modulus.';
  const notTwo = 'The modulus of the RSA key is not the product of its two primes.';
  const notBase64 = 'The private key is not base64.';
  test.each([
    ['an EC key (PKCS#8)', base64Of(badPems.ecPkcs8), 'The private key is not an RSA key but of type ec.'],
    ['an EC key (SEC1)', base64Of(badPems.ecSec1), 'The private key is not an RSA key but of type ec.'],
    ['an Ed25519 key', base64Of(badPems.ed25519), 'The private key is not an RSA key but of type ed25519.'],
    ['an RSA-PSS key', base64Of(badPems.rsaPss), 'The private key is not an RSA key but of type rsa-pss.'],
    ['a 1024-bit key', base64Of(badPems.rsa1024), 'The RSA key has 1024 bits; RS256 needs 2048 or more.'],
    [
      'a key of over 4,096 bits',
      base64Of(badPems.rsa4104),
      'The RSA key has 4104 bits; at most 4096 bits are allowed.',
    ],
    [
      'a key with a large public exponent',
      base64Of(badPems.largeExponent),
      'The RSA key has a public exponent of over 32 bits.',
    ],
    ['a long private exponent', base64Of(oddPems.longD), tooLong],
    ['a long first prime', base64Of(oddPems.longP), tooLong],
    ['a long second prime', base64Of(oddPems.longQ), tooLong],
    ['a long first CRT exponent', base64Of(oddPems.longDp), tooLong],
    ['a long second CRT exponent', base64Of(oddPems.longDq), tooLong],
    ['a long CRT coefficient', base64Of(oddPems.longQi), tooLong],
    ['a key of three primes', base64Of(oddPems.threePrimes), notTwo],
    ['an encrypted PKCS#8 key', base64Of(badPems.encryptedPkcs8), 'The private key is encrypted.'],
    ['an encrypted PKCS#1 key', base64Of(badPems.encryptedPkcs1), 'The private key is encrypted.'],
    ['a public key', base64Of(badPems.public), unsupported],
    ['a key cut short', base64Of(badPems.cut), unsupported],
    ['a PEM that is not base64', goodPems.pkcs8, notBase64],
    ['text that is not base64', 'this is no key!', notBase64],
    ['base64url', base64Of('-----BEGIN ???>>>').replaceAll('/', '_').replaceAll('+', '-'), notBase64],
    ['base64 cut short', privateKey.slice(0, -3), notBase64],
    ['a space inside', `${privateKey.slice(0, 40)} ${privateKey.slice(40)}`, notBase64],
    ['base64 that is not a PEM', base64Of('hello there'), 'The private key is not a PEM.'],
    ['a blank key', ' ', 'The private key is not a PEM.'],
    [
      'a PEM without end',
      base64Of(`-----BEGIN PRIVATE KEY-----\n${'A'.repeat(8_192)}`),
      'The private key is too large.',
    ],
  ])('does not sign with %s', async (_, bad, details) => {
    const answer = await sign(runtime.bus, { ...good, privateKey: bad });
    expect(answer.body).toEqual({
      error: 'The token could not be signed.',
      code: 'crypto/server-error',
      details,
    });
    expect(answer.status).toBe(500);
  });
});

test.each(handlerEngines())('the token names the configured audience (%s)', async (engine) => {
  await using runtime = await createRuntime(engine);
  await using _service = await startCrypto(runtime, { allowTestTokens: true, tokenAudience: 'id.example' });
  const answer = await sign(runtime.bus, good);
  const { payload } = await jwtVerify((answer.body as { token: string }).token, publicKey);
  expect(payload.aud).toBe('id.example');
});

test.each(handlerEngines())(
  'the service answers route/not-found if test tokens are not allowed (%s)',
  async (engine) => {
    await using runtime = await createRuntime(engine);
    await using _service = await startCrypto(runtime, { allowTestTokens: false });
    for (const body of [good, {}, { payload: { id: 7 } }]) {
      const answer = await sign(runtime.bus, body);
      expect(answer.body).toEqual({ error: 'No such endpoint.', code: 'route/not-found' });
      expect(answer.status).toBe(404);
    }
  },
);
