// Writes docs/errors.md from the contracts. It lists every code with its status and message. For each code, it explains when
// and by which operations the code is returned, and what a client should do. With `--check`, it writes nothing, and fails if
// the result would differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { type ErrorCode, type ErrorMeaning, errorMeanings, errors, operations } from '@kith/contracts';
import { codesOf, outside } from '@kith/openapi';

const all = Object.keys(errors) as ErrorCode[];
const sections = Map.groupBy(all, (code): ErrorMeaning => errorMeanings[code]);
/** Whether several codes share a meaning. Such a meaning is written only once, for all its codes. */
const isShared = ([, codes]: [ErrorMeaning, ErrorCode[]]) => codes.length > 1;
const features = Map.groupBy(
  [...sections].filter((section) => !isShared(section)),
  ([, [code = '']]) => (code.includes('/') ? code.split('/')[0] : 'Duplicates'),
);

const titles: Record<string, string> = {
  request: 'The request itself',
  route: 'Addresses',
  'rate-limit': 'Limits',
  gateway: 'The gateway',
  auth: 'Tokens and accounts',
  project: 'Projects',
  crypto: 'Test tokens',
  collection: 'Collections',
  connection: 'Connections and blocks',
  'app-notification': 'Notifications',
};

const document = `# Errors

Made from the contracts by \`tools/docs-errors.ts\`. Every answer outside 2xx and 304 has the body
\`{ "error", "code", "field"?, "errors"?, "details"? }\`. \`error\` is a sentence for people, and \`code\` is for programs.
\`field\` names the wrong input; if several inputs are wrong, \`errors\` lists all of them. Only \`crypto/server-error\` has
\`details\`, which say why the token could not be signed. Programs should use \`code\`, because sentences may change. With
\`Accept: application/problem+json\`, the answer is a problem as in RFC 9457. A gateway shows this catalogue at \`/docs/errors\`.

## In short

| status | what it means for a client |
|---|---|
| 400, 404, 405, 413, 415, 416, 417, 431 | the request is wrong: the same one fails again |
| 401 | refresh the session once; if that fails, sign in again |
| 403 | the token is valid, but does not allow this; only with \`auth/token-expired\`: refresh the session, as after 401 |
| 409 | the request conflicts with what is stored: read it, then decide |
| 408, 429, 503 | nothing was done: wait (\`Retry-After\`), then repeat the request |
| 412 | the stored version is not the one in \`If-Match\` or \`If-Unmodified-Since\`: read it again |
| 422 | the \`Idempotency-Key\` was used for another request: send a new key |
| 500, 504 | perhaps the write was done: repeat reads, and repeat writes under the same \`Idempotency-Key\`; check before you repeat any other write |

## Of several features

${[...sections].filter(isShared).map(print).join('\n')}
${[...features].map(([feature = '', list]) => `## ${titles[feature] ?? feature}\n\n${list.map(print).join('\n')}`).join('\n')}`;

function print([{ when, remedy }, codes]: [ErrorMeaning, ErrorCode[]]): string {
  const [first = 'route/not-found'] = codes;
  const { status, message } = errors[first];
  const sentences = new Set(codes.map((code) => errors[code].message));
  return `### ${codes.map((code) => `\`${code}\``).join(' ')}

**${status} ${STATUS_CODES[status]}.** ${sentences.size === 1 ? message : ''}

- When: ${when}
- What to do: ${remedy}
- Answered by: ${codes.length > 2 ? 'the operations of the feature that each code names' : codes.map(answeredBy).join(', ')}
`;
}

function answeredBy(code: ErrorCode): string {
  if ([...outside, 'request/invalid-http'].includes(code)) return 'the gateway, before any operation';
  const names = operations
    .filter((operation) => codesOf(operation).includes(code))
    .map(({ name }) => `\`${name}\``);
  if (names.length > operations.length / 4) return `${names.length} of ${operations.length} operations`;
  return names.join(', ');
}

const file = new URL('../docs/errors.md', import.meta.url);
if (!process.argv.includes('--check')) writeFileSync(file, document);
else if (readFileSync(file, 'utf8') !== document) {
  console.error('docs/errors.md differs from the contracts; run tools/docs-errors.ts');
  process.exit(1);
}
