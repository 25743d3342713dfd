import { readFileSync } from 'node:fs';
import type { Feature, OperationSpec } from '@kith/contracts';
import type { JsonObject } from './json.ts';

const description = `The social part of an application: accounts, connections, collections, notifications.

**Addresses.** This document writes \`/v7/{projectId}/…\`. The same endpoints answer under \`/v6\`, \`/api/v6\`, \`/api/v7\`,
without a version (\`/{projectId}/…\`), and with the version after the project id. One trailing slash is ignored. Every
\`GET\` also works as \`HEAD\`. \`OPTIONS\` answers which methods are allowed.

**Tokens.** Sign up or in, and send \`Authorization: Bearer <accessToken>\`. Access tokens last 30 minutes;
\`POST …/auth/request-new-access-token\` exchanges the refresh token for new tokens.

**Errors.** Every answer outside 2xx and 304 is \`{ "error", "code", "field"?, "errors"?, "details"? }\`. A client that names
\`application/problem+json\` in \`Accept\`, and does not prefer plain JSON, gets a problem instead (RFC 9457), which also
has \`error\` and \`code\`. [All codes](/docs/errors).

**Limits.** Each endpoint has its own limit, counted for each project and client address. The headers \`RateLimit-Policy\`,
\`RateLimit\` and \`X-RateLimit-*\` report it. A request above the limit gets 429 with \`Retry-After\`.

**Lists.** Lists are read by \`page\` or by cursor. If there is another page, \`Link\` leads to it, equally fast at any depth.`;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * General information about the document. Its version is the version of the packages. docs/upgrading.md says which changes a
 * version may contain. This version has nothing to do with the `v6` and `v7` in addresses, which are two forms of the same API
 * (spec#addresses-forms).
 */
export const info: JsonObject = {
  title: 'Kith',
  version,
  description,
  contact: { name: 'The operator of this server' },
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

/** The server that the document came from. */
export const servers: readonly JsonObject[] = [
  {
    url: '/',
    description: 'The server that this document came from: local, staging or production.',
    'x-internal': false,
  },
];

const ofFeature: Readonly<Record<Feature, { name: string; description: string }>> = {
  auth: { name: 'Accounts', description: 'Sign-up, sign-in, sessions and their tokens.' },
  user: { name: 'Users', description: 'Profiles, and searching for users.' },
  connection: { name: 'Connections', description: 'Requests, connections and blocks between two users.' },
  collection: {
    name: 'Collections',
    description: 'Trees of collections, and the entities that are saved in them.',
  },
  'app-notification': {
    name: 'Notifications',
    description: 'Notifications of a user, as a list and as a live stream.',
  },
  project: { name: 'Projects', description: 'The public data of a project.' },
  storage: { name: 'Files', description: 'Files and images of users.' },
  crypto: { name: 'Test tokens', description: 'Signing tokens for tests; not available in production.' },
};
const operators = {
  name: 'Operators',
  description: 'For the operators of the server, with an operator token.',
};

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
