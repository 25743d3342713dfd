import { type Auth, type OperationSpec, serverKeyMay } from '@kith/contracts';
import type { JsonObject } from './json.ts';

/** How callers prove who they are. */
export const securitySchemes: Readonly<Record<string, JsonObject>> = {
  userToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token of a session. It lasts 30 minutes. Only RS256 is accepted. Issuer, audience and expiry are checked, as RFC8725 requires.',
  },
  serverKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A key of the application’s own back end, `kith_sk_…`. It belongs on a server, never in a web page. It works only at addresses that contain the id of its own project. In operations for users, it acts for the user whose id is in `On-Behalf-Of`.',
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of the server’s operator (`OPERATOR_TOKEN`), or an operator key, `kith_op_…`, which allows only the operations of its scopes. Users’ tokens are not accepted.',
  },
};

const serverKey = { serverKey: [] };
const requirements: Readonly<Record<Auth, readonly JsonObject[]>> = {
  user: [{ userToken: [] }],
  'server-key': [serverKey],
  operator: [{ operatorToken: [] }],
  optional: [{ userToken: [] }, {}],
  none: [{}],
};

/** Who may call an operation, in the form of OpenAPI's security requirements. An empty object allows anybody. */
export function securityOf(operation: OperationSpec): readonly JsonObject[] {
  const [first = {}, ...others] = requirements[operation.auth];
  return takesServerKey(operation) ? [first, serverKey, ...others] : [first, ...others];
}

/** Whether a server key may also call an operation that is made for users (spec#server-keys-on-behalf). */
export function takesServerKey(operation: OperationSpec): boolean {
  const { auth } = operation;
  return (auth === 'user' || auth === 'optional') && serverKeyMay(operation) !== 'never';
}
