import { makeApiKey } from '@kith/base';
import {
  createOperator,
  listProjects,
  methodsOf,
  type OperationSpec,
  type OperatorScope,
  operatorScopes,
} from '@kith/contracts';
import { type TestPlatform, waitFor } from '@kith/testing';
import { http } from '../http.ts';
import { fieldsOf } from './outcomes.ts';
import type { SurfaceWorld } from './suite.ts';
import type { Given } from './surface.ts';

/**
 * Checks that every operation of a part checks its token first. In each call, everything is wrong: the token, the parameters and
 * the body. The operation has to refuse the token, and nothing else (spec#errors-check-order, spec#auth). An operators' operation
 * also has to refuse an operator key without the operation's scope.
 */
export async function refusesStrangers(world: SurfaceWorld, specs: readonly OperationSpec[]): Promise<void> {
  for (const spec of specs) {
    const wrong = allWrong(spec);
    if (spec.auth === 'user') {
      await world.refused(spec, wrong, 'auth/unauthorized');
      await world.refused(spec, { ...wrong, token: 'null' }, 'auth/unauthorized');
      await world.refused(spec, { ...wrong, token: world.stranger.accessToken }, 'auth/forbidden');
    }
    if (spec.auth === 'server-key') {
      await world.refused(spec, wrong, 'auth/unauthorized');
      await world.refused(spec, { ...wrong, token: makeApiKey('server') }, 'auth/unauthorized');
      const { accessToken } = await world.user();
      const message = 'This endpoint takes only a server key.';
      await world.refused(spec, { ...wrong, token: accessToken }, 'auth/forbidden', { message });
    }
    if (spec.auth === 'operator') {
      await world.refused(spec, wrong, 'auth/unauthorized');
      await world.refused(spec, { ...wrong, token: world.stranger.accessToken }, 'auth/unauthorized');
      const scopes = operatorScopes.filter((scope) => scope !== spec.operatorScope);
      const key = await operatorKey(world, { scopes });
      const message = spec.operatorScope
        ? `This operator key lacks the scope ${spec.operatorScope}.`
        : 'Only OPERATOR_TOKEN may do this, not an operator key.';
      await world.refused(spec, { ...wrong, token: key }, 'auth/forbidden', { message });
    }
  }
}

/** The rights with which an operator key is made. */
export interface KeyRights {
  scopes: OperatorScope[];
  projectIds?: string[];
  expiresAt?: string;
}

/** The keys that were made already. With this record, a platform gets only one key for the same rights. */
const made = new WeakMap<TestPlatform, Map<string, Promise<string>>>();

/** Returns the token of an operator key with these rights, as soon as the gateway knows the key. */
export function operatorKey(
  { platform }: Pick<SurfaceWorld, 'platform'>,
  rights: KeyRights,
): Promise<string> {
  const keys = made.get(platform) ?? new Map<string, Promise<string>>();
  made.set(platform, keys);
  const name = JSON.stringify(rights);
  const key = keys.get(name) ?? makeKey(platform, rights);
  keys.set(name, key);
  return key;
}

async function makeKey({ url, operatorToken }: TestPlatform, rights: KeyRights): Promise<string> {
  const body = { name: 'A key', ...rights };
  const { path } = createOperator;
  const answer = await http(url, { method: 'POST', path, token: operatorToken, body });
  const { token } = answer.json() as { token: string };
  const isKnown = async () => (await http(url, { path: listProjects.path, token })).status !== 401;
  await waitFor(isKnown, { what: 'the key' });
  return token;
}

/**
 * Checks that a known parameter is refused if it is given twice. Except at operators' endpoints, also checks that an unknown
 * parameter is ignored, even if it is given twice (spec#requests-repeated-parameter, spec#requests-unknown).
 */
export async function refusesTwice(world: SurfaceWorld, spec: OperationSpec, given: Given): Promise<void> {
  const before = given.query ? `${given.query}&` : '';
  for (const field of fieldsOf(spec.query)) {
    const code = spec.invalid?.[`query.${field}`] ?? (`${spec.feature}/invalid-query` as const);
    const unknown = spec.auth === 'operator' ? '' : 'unknown=1&unknown=2&';
    const query = `${before}${unknown}${field}=1&${field}=1`;
    const refusal = { field, message: `${field} must be given only once.` };
    await world.refused(spec, { ...given, query }, code, refusal);
  }
}

/** Checks that an operators' endpoint refuses fields and parameters that it does not know (spec#requests-admin-unknown). */
export async function refusesUnknown(world: SurfaceWorld, spec: OperationSpec): Promise<void> {
  const params = Object.fromEntries(fieldsOf(spec.params).map((name) => [name, 'nonsense']));
  const given = { params, token: world.operatorToken };
  const refused = async (wrong: Pick<Given, 'body' | 'query'>, field: string) => {
    const message = `${field} is not a field of this endpoint.`;
    await world.refused(spec, { ...given, ...wrong }, 'request/unknown-field', { field, message });
  };
  if (!methodsOf(spec).includes('GET')) await refused({ body: { nmae: 1, other: 2 } }, 'nmae');
  const [known] = fieldsOf(spec.query);
  if (known) await refused({ query: `${known}=nonsense&filter=1` }, 'filter');
  else if (methodsOf(spec).includes('GET')) await refused({ query: 'filter=1' }, 'filter');
}

function allWrong(spec: OperationSpec): Given {
  return {
    params: Object.fromEntries(fieldsOf(spec.params).map((name) => [name, 'nonsense'])),
    query: fieldsOf(spec.query)
      .map((name) => `${name}=1&${name}=2`)
      .join('&'),
    ...(methodsOf(spec).includes('GET') ? {} : { body: '{"cut short' }),
  };
}
