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
 * Checks that a known parameter given twice is refused, and that an unknown one is not looked at
 * (spec#requests-repeated-parameter, spec#requests-unknown).
 */
export async function refusesTwice(world: SurfaceWorld, spec: OperationSpec, given: Given): Promise<void> {
  const before = given.query ? `${given.query}&` : '';
  for (const field of fieldsOf(spec.query)) {
    const code = spec.invalid?.[`query.${field}`] ?? (`${spec.feature}/invalid-query` as const);
    const query = `${before}unknown=1&unknown=2&${field}=1&${field}=1`;
    const refusal = { field, message: `${field}: It is given twice.` };
    await world.refused(spec, { ...given, query }, code, refusal);
  }
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
