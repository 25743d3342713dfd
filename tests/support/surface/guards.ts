import { methodsOf, type OperationSpec } from '@kith/contracts';
import { fieldsOf } from './outcomes.ts';
import type { SurfaceWorld } from './suite.ts';
import type { Given } from './surface.ts';

/**
 * Checks that every operation of a part asks for its token first: calls in which all else is wrong, too, are refused for
 * the token alone (spec#errors-check-order, spec#auth).
 */
export async function refusesStrangers(world: SurfaceWorld, specs: readonly OperationSpec[]): Promise<void> {
  for (const spec of specs) {
    const wrong = allWrong(spec);
    if (spec.auth === 'user') {
      await world.refused(spec, wrong, 'auth/unauthorized');
      await world.refused(spec, { ...wrong, token: 'null' }, 'auth/unauthorized');
      await world.refused(spec, { ...wrong, token: world.stranger.accessToken }, 'auth/forbidden');
    }
    if (spec.auth === 'operator') {
      await world.refused(spec, wrong, 'auth/unauthorized');
      await world.refused(spec, { ...wrong, token: world.stranger.accessToken }, 'auth/unauthorized');
    }
  }
}

/**
 * Checks that a known parameter given twice is refused, and that an unknown one is not looked at, except by operators'
 * endpoints (spec#requests-repeated-parameter, spec#requests-unknown).
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

/** Checks that an operator's endpoint takes no key that it does not know (spec#requests-admin-unknown). */
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
