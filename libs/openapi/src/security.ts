import type { Auth } from '@kith/contracts';
import type { JsonObject } from './json.ts';

/** How callers prove who they are. */
export const securitySchemes: Readonly<Record<string, JsonObject>> = {
  userToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token of a session, of 30 minutes. RS256 alone is accepted, and issuer, audience and expiry are checked, as RFC8725 asks for.',
  },
  serverKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A key of the application’s own back end, `kith_sk_…`. It belongs on a server, never into a page. At the operations of users it acts for the one whose id is in `On-Behalf-Of`.',
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of who runs the server (`OPERATOR_TOKEN`). No token of a user is accepted in its place.',
  },
};

const requirements: Readonly<Record<Auth, readonly JsonObject[]>> = {
  user: [{ userToken: [] }],
  'server-key': [{ serverKey: [] }],
  operator: [{ operatorToken: [] }],
  optional: [{ userToken: [] }, {}],
  none: [{}],
};

/** Who may call, as security requirements. An empty object allows anybody. */
export function securityOf(auth: Auth): readonly JsonObject[] {
  return requirements[auth];
}
