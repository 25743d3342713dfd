// Only the compiler checks this file. A manifest that leaves out or mixes up operations does not compile.
import { getJwks, signTestingJwt, signTestingJwtV2 } from '@kith/contracts';
import { handler, serviceConfig, serviceManifest } from '@kith/service';

const answer = async () => {
  throw new Error('not called');
};
const first = handler(signTestingJwt, answer);
const second = handler(signTestingJwtV2, answer);
const foreign = handler(getJwks, answer);

const declare = serviceManifest<object>();
const rest = { name: 'crypto', config: serviceConfig, start: answer } as const;

export const whole = declare({
  ...rest,
  operations: { 'sign-testing-jwt': first, 'sign-testing-jwt-v2': second },
});

// @ts-expect-error An operation is missing.
export const missing = declare({ ...rest, operations: { 'sign-testing-jwt': first } });

export const mixedUp = declare({
  ...rest,
  // @ts-expect-error Each operation has the handler of the other.
  operations: { 'sign-testing-jwt': second, 'sign-testing-jwt-v2': first },
});

export const tooMany = declare({
  ...rest,
  operations: {
    'sign-testing-jwt': first,
    'sign-testing-jwt-v2': second,
    // @ts-expect-error `jwks` is an operation of another service.
    jwks: foreign,
  },
});

export const unknownFeature = declare({
  ...rest,
  operations: { 'sign-testing-jwt': first, 'sign-testing-jwt-v2': second },
  // @ts-expect-error There are no events of a feature `weather`.
  emits: ['weather'],
});

export const streaming = declare({
  ...rest,
  name: 'notifications',
  // @ts-expect-error Four operations are missing. `stream` is not one of them, because the gateway serves it.
  operations: {},
});

/** An app that the handlers of another service work with. */
export const otherApp = serviceManifest<{ own: string }>()({
  ...rest,
  operations: {
    // @ts-expect-error The handler works on another app.
    'sign-testing-jwt': handler(signTestingJwt, async (_, app: { others: number }) => ({
      token: String(app.others),
    })),
    'sign-testing-jwt-v2': second,
  },
});
