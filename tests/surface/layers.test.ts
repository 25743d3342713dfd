// Starts at most 2 platforms and 7 processes.
import { randomUUID } from 'node:crypto';
import { makeApiKey } from '@kith/base';
import {
  type ErrorCode,
  getUserByUsername,
  methodsOf,
  type OperationSpec,
  publicUser,
  renameCollection,
  signOut,
  suspendUser,
  updateProject,
} from '@kith/contracts';
import { availableEngines, type TestUser, waitFor } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { expectCounted } from '../support/expect-counted.ts';
import { expiredToken } from '../support/surface/expired-token.ts';
import { classes } from '../support/surface/parts.ts';
import { describeSurface, surfaceSuite } from '../support/surface/suite.ts';
import type { Given } from '../support/surface/surface.ts';

type Class = keyof typeof classes;
const each = Object.entries(classes) as [Class, OperationSpec][];
const scoped = each.filter(([, { scope }]) => scope === 'project');
const withBody = each.filter(([, { method }]) => method !== 'GET');
const most = 10;
// Operators have a limit only for failed requests, and a server key has a counter of its own. So these tests leave out both.
const limited = each.filter(([name]) => name !== 'operator' && name !== 'server-key');
const limits = Object.fromEntries(limited.map(([, { name }]) => [name, { max: most, windowSeconds: 300 }]));

/** Adds a segment to a path, before its query. */
const below = (path: string) => path.replace(/(\?|$)/, '/nothing$1');

// Tests the layers before every operation, once for each auth class. Their order is that of spec#errors-check-order: route, limit,
// token, body.
const layers = surfaceSuite('layers', (world) => {
  let ada: TestUser;
  let collectionId: string;
  let hosts = 1;
  beforeAll(async () => {
    ada = await world.user({ username: 'ada' });
    collectionId = (await world.platform.createCollection(ada, 'Folder')).id;
  });

  /** A valid call of an operation of an auth class. It comes from a new address, whose limit is not used yet. */
  const good = (name: Class): Given => {
    const from = `127.0.1.${++hosts}`;
    const calls: Record<Class, Given> = {
      none: { body: { refreshToken: 'never given out' } },
      optional: { query: 'username=ada' },
      user: { token: ada.accessToken, params: { collectionId }, body: { name: 'Renamed' } },
      'server-key': {
        token: world.serverKey,
        body: { userIds: [ada.id], type: 'order-shipped' },
      },
      operator: { token: world.operatorToken, params: { projectId: world.projectId }, body: {} },
    };
    return { ...calls[name], from };
  };
  /** The same call, but every layer after the route would refuse it. */
  const worse = (name: Class): Given => {
    const { from, params } = good(name);
    const nowhere = params && Object.fromEntries(Object.keys(params).map((param) => [param, 'nonsense']));
    return {
      from,
      ...(nowhere ? { params: nowhere } : {}),
      ...(name === 'optional' ? {} : { body: '{"cut short', headers: { 'content-type': 'text/plain' } }),
    };
  };

  it.each(each)('%s: an unknown route or method is refused before all else', async (name, spec) => {
    const nowhere = {
      ...worse(name),
      bend: (ask: { path: string }) => ({ ...ask, path: below(ask.path) }),
    };
    await world.refused(spec, nowhere, 'route/not-found');
    const put = { ...worse(name), method: 'PUT' };
    const { headers } = await world.refused(spec, put, 'route/method-not-allowed');
    const allowed = headers.allow?.split(', ');
    expect(allowed).toEqual(expect.arrayContaining([...methodsOf(spec), 'OPTIONS']));
    expect(allowed).not.toContain('PUT');
  });

  it.each(scoped)('%s: a project id that is no UUID is refused before all else', async (name, spec) => {
    for (const form of ['/v6', '/v7', '/api/v6', '/api/v7']) {
      await world.refused(spec, { ...worse(name), form, projectId: 'no-uuid' }, 'project/invalid-id');
    }
    await world.refused(spec, { ...worse(name), form: '', projectId: 'no-uuid' }, 'route/not-found');
  });

  it('operator: only failed requests are limited, and a request with a valid token is always answered', async () => {
    await expectCounted(world.platform.internalUrls, async () => {
      const { from = '', ...given } = good('operator');
      for (let failure = 1; failure <= most; failure++) {
        const wrong = { ...worse('operator'), from, ...(failure % 2 ? { token: 'wrong' } : {}) };
        const { headers } = await world.refused(updateProject, wrong, 'auth/unauthorized');
        expect(headers['x-ratelimit-remaining']).toBe(String(most - failure));
        await world.ok(updateProject, { ...given, from });
      }
      const { headers } = await world.refused(
        updateProject,
        { ...worse('operator'), from },
        'rate-limit/exceeded',
      );
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(300);
      await world.ok(updateProject, { ...given, from });
      await world.refused(updateProject, worse('operator'), 'auth/unauthorized');
    });
  });

  it.each(limited)(
    '%s: a request over the limit is refused before its token and body are checked',
    (name, spec) =>
      expectCounted(world.platform.internalUrls, async () => {
        const given = good(name);
        for (let call = 1; call <= most; call++) {
          const { headers } = await world.ok(spec, given);
          expect(headers['x-ratelimit-remaining']).toBe(String(most - call));
        }
        const { from } = given;
        const { headers } = await world.refused(spec, { ...worse(name), from }, 'rate-limit/exceeded');
        expect(headers['x-ratelimit-remaining']).toBe('0');
        expect(Number(headers['retry-after'])).toBeLessThanOrEqual(300);
        await world.ok(spec, good(name));
      }),
  );

  it.each(withBody)('%s: an unreadable body is refused before ids are looked up', async (name, spec) => {
    const given = { ...worse(name), ...(good(name).token ? { token: good(name).token } : {}) };
    const nowhere = spec.scope === 'project' && spec.auth === 'none' ? { projectId: randomUUID() } : {};
    const send = (body: string, code: ErrorCode, headers: Record<string, string> = {}) => {
      const { from } = good(name);
      return world.refused(spec, { ...given, ...nowhere, from, body, headers }, code);
    };
    for (const body of ['{"cut short', '[]', 'null', '"text"', ' ', "{'a': 1}", '{}{}']) {
      await send(body, 'request/invalid-json');
    }
    const tooLarge = JSON.stringify({ text: 'x'.repeat(256 * 1024) });
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
    ]) {
      const headers = { 'content-type': type };
      await send('{}', 'request/unsupported-media-type', headers);
      await send(tooLarge, 'request/unsupported-media-type', headers);
    }
    await send('{}', 'request/unsupported-media-type', { 'content-encoding': 'gzip' });
    await send(tooLarge, 'request/too-large');
  });

  it.each(withBody)(
    '%s: a body of 256 KiB is accepted; unknown fields are refused only for operators',
    async (name, spec) => {
      const given = good(name);
      const empty = JSON.stringify({ ...(given.body as object), unknown: '' });
      const body = empty.replace('""}', `"${'x'.repeat(256 * 1024 - empty.length)}"}`);
      expect(body.length).toBe(256 * 1024);
      if (spec.auth !== 'operator')
        return void (await world.ok(spec, { ...given, body, query: 'unknown=1' }));
      const refusal = { field: 'unknown', message: 'unknown is not a field of this endpoint.' };
      await world.refused(spec, { ...given, body }, 'request/unknown-field', refusal);
    },
  );

  it('user: every invalid token gets 401, before the body is checked', async () => {
    const { accessToken } = ada;
    const [, payload] = accessToken.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const tokens = [
      'null',
      'a.b.c',
      `${none}.${payload}.`,
      `${accessToken.slice(0, -8)}AAAAAAAA`,
      await expiredToken(world.platform, accessToken),
      world.operatorToken,
    ];
    for (const token of tokens) {
      await world.refused(renameCollection, { ...worse('user'), token }, 'auth/unauthorized');
    }
    const headers = { authorization: 'Basic dTpw', 'content-type': 'text/plain' };
    await world.refused(renameCollection, { ...worse('user'), headers }, 'auth/unauthorized');
    const lower = { ...good('user'), headers: { authorization: `bearer ${accessToken}` } };
    await world.ok(renameCollection, lower);
  });

  it('user: a token of another project gets 403, and so does a token of a suspended user', async () => {
    const { accessToken: token } = world.stranger;
    await world.refused(renameCollection, { ...worse('user'), token }, 'auth/forbidden');
    const grace = await world.user({ username: 'grace' });
    const params = { projectId: world.projectId, userId: grace.id };
    await world.ok(suspendUser, { params, token: world.operatorToken });
    await waitFor(async () => {
      const given = { ...worse('user'), token: grace.accessToken };
      return world.refused(renameCollection, given, 'auth/suspended');
    });
    const { body } = await world.ok(getUserByUsername, {
      ...good('optional'),
      query: 'username=grace',
      token: grace.accessToken,
    });
    expect(Object.keys(body)).not.toContain('email');
  });

  it('server-key: every other token is refused, and an unknown key is counted like a request without a key', async () => {
    const spec = classes['server-key'];
    for (const token of [undefined, 'null', world.operatorToken, makeApiKey('server')]) {
      const { headers } = await world.refused(
        spec,
        { ...worse('server-key'), ...(token && { token }) },
        'auth/unauthorized',
      );
      expect(headers['x-ratelimit-limit']).toBe(String(spec.limit.max));
    }
    const token = ada.accessToken;
    const message = 'This endpoint takes only a server key.';
    await world.refused(spec, { ...worse('server-key'), token }, 'auth/forbidden', { message });
    const { headers } = await world.ok(spec, good('server-key'));
    expect(headers['x-ratelimit-limit']).toBe(String(20 * spec.limit.max));
  });

  it('optional: a request with an invalid token is answered like a request without a token', async () => {
    const whole = await world.ok(getUserByUsername, { ...good('optional'), token: ada.accessToken });
    expect(whole.body).toEqual(ada.user);
    const others = [
      'null',
      'a.b.c',
      world.stranger.accessToken,
      await expiredToken(world.platform, ada.accessToken),
    ];
    for (const token of others) {
      const { body } = await world.ok(getUserByUsername, { ...good('optional'), token });
      expect(body).toEqual(publicUser.parse(ada.user));
    }
  });

  it('none: a token is ignored', async () => {
    for (const token of ['null', world.stranger.accessToken])
      await world.ok(signOut, { ...good('none'), token });
  });

  it('operator: every token except the operator token is refused', async () => {
    const { operatorToken } = world;
    for (const token of [undefined, 'null', ada.accessToken, `${operatorToken}x`, operatorToken.slice(1)]) {
      const given = { ...worse('operator'), ...(token ? { token } : {}) };
      await world.refused(updateProject, given, 'auth/unauthorized');
    }
  });

  it.each(each)('%s: an invalid or missing request id is replaced by a new one', async (name, spec) => {
    for (const id of [undefined, 'x'.repeat(65), 'not safe', '<>']) {
      const headers: Record<string, string> = id === undefined ? {} : { 'x-request-id': id };
      await world.ok(spec, { ...good(name), bend: (ask) => ({ ...ask, headers }) });
    }
  });
});

describeSurface([layers], { engines: availableEngines(), scale: 1, limits });
