import { readFileSync } from 'node:fs';
import type { Feature, OperationSpec } from '@kith/contracts';
import type { JsonObject } from './json.ts';

const description = `The social part of an application: accounts, connections, collections, notifications.

**Addresses.** This document writes \`/v7/{projectId}/…\`. The same endpoints answer under \`/v6\`, \`/api/v6\`, \`/api/v7\`,
with no version at all (\`/{projectId}/…\`), and with a version behind the project id. One trailing slash is ignored.
\`HEAD\` follows \`GET\`, \`OPTIONS\` answers what is allowed.

**Tokens.** Sign up or in, and send \`Authorization: Bearer <accessToken>\`. Access tokens last 30 minutes;
\`POST …/auth/request-new-access-token\` exchanges the refresh token for new ones.

**Errors.** Every answer outside 2xx and 304 is \`{ "error", "code", "field"?, "errors"?, "details"? }\`. A client that names
\`application/problem+json\` in \`Accept\`, and does not prefer plain JSON, gets the same as a problem (RFC 9457), with
\`error\` and \`code\`. [All codes](/docs/errors).

**Limits.** Each endpoint has its own, counted for a project and a client address, and told in \`RateLimit-Policy\`,
\`RateLimit\` and \`X-RateLimit-*\`. Above it the answer is 429 with \`Retry-After\`.

**Lists.** By \`page\`, or by cursor: while there is more, \`Link\` leads to the next part, equally fast at any depth.`;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * What the document says about itself. Its version is the version of the packages; docs/upgrading.md says what may change in
 * which version. The 6 and 7 in addresses are two forms of the same API (spec#addresses-forms).
 */
export const info: JsonObject = {
  title: 'Kith',
  version,
  description,
  contact: { name: 'Whoever runs this server' },
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

/** The server that the document came from. */
export const servers: readonly JsonObject[] = [
  {
    url: '/',
    description: 'The server this document came from: local, staging or production.',
    'x-internal': false,
  },
];

const ofFeature: Readonly<Record<Feature, { name: string; description: string }>> = {
  auth: { name: 'Accounts', description: 'Signing up and in, sessions and their tokens.' },
  user: { name: 'Users', description: 'Profiles, and looking people up.' },
  connection: { name: 'Connections', description: 'Requests, connections and blocks between two users.' },
  collection: { name: 'Collections', description: 'Trees of collections, and what is saved in them.' },
  'app-notification': { name: 'Notifications', description: 'What happened for a user, as a list and live.' },
  project: { name: 'Projects', description: 'What a client may know of its project.' },
  storage: { name: 'Files', description: 'Files and images of users.' },
  crypto: { name: 'Test tokens', description: 'Signing tokens for tests; not there in production.' },
};
const operators = { name: 'Operators', description: 'For who runs the server, by the operator token.' };

/** The groups of operations, in the order in which they are shown. */
export const tags: readonly { name: string; description: string }[] = [
  ...Object.values(ofFeature),
  operators,
];

/** The group in which an operation is shown. */
export function tagOf(operation: OperationSpec): string {
  if (operation.auth === 'operator') return operators.name;
  const tag: { name: string } | undefined = ofFeature[operation.feature];
  if (!tag) {
    throw new Error(
      `${operation.name}: its feature ${operation.feature} has no tag: add one to ofFeature in libs/openapi/src/info.ts.`,
    );
  }
  return tag.name;
}
