import type { Answer } from '../http.ts';
import type { Made } from './requests.ts';

/** Codes of requests that are refused because of their form. These refusals do not depend on the stored data. */
const ofForm = /\/(invalid-|missing-|unknown-field|malformed|too-large|unsupported)/;

/** Messages of refusals that are about the server key itself, and not about the user for whom the key acts. */
const ofKey = /^(A server key cannot do this|Name the user that the server key acts for)/;

/**
 * Rules that a schema cannot express. For each rule, `of` matches the codes of its refusals, and `what` says what the schema leaves
 * open. A request that follows the document may still get these refusals. Any other refusal of a request's form is a mistake in the
 * document.
 */
const unsayable: readonly { of: RegExp; what: string }[] = [
  { of: /^auth\/invalid-(credentials|token)/, what: 'which password or token is right' },
  { of: /^auth\/invalid-(or-expired|reset)-token/, what: 'which code or token is right' },
  { of: /^auth\/invalid-(rp-id|redirect)/, what: "which origins are the project's" },
  { of: /^collection\/invalid-parent/, what: 'which collections there are' },
  { of: /^storage\/invalid-body of kind$/, what: 'that only an image has sizes and a quality' },
  { of: /^storage\/invalid-image/, what: 'which bytes are an image' },
  { of: /^crypto\//, what: 'which text is a key' },
  { of: /\/invalid-query of cursor$/, what: 'which cursor is of this list' },
  { of: /of (avatar|banner)FileId$/, what: "which files are the user's images" },
  { of: /of limits$/, what: 'which operations there are' },
  { of: /of types\./, what: 'which keys a map may have' },
  { of: /of (until|expiresAt)$/, what: 'which times are in the future' },
  { of: /of projectIds$/, what: 'which projects there are' },
  { of: /of mailTexts\./, what: 'which placeholders a text may contain' },
  { of: /of publicKey$/, what: 'which text is a key' },
  { of: /of webOrigins\.\d+$/, what: 'which text is an origin, as the URL standard writes it' },
  {
    of: /of ((rows\.\d+\.)?avatar|mailLinkBase)$/,
    what: 'which text is a URL, as the URL standard reads it',
  },
  { of: /of (rows\.\d+\.)?metadata$/, what: 'how many bytes the JSON may have' },
  { of: /of (rows\.\d+\.)?location$/, what: 'how many bytes the text may have' },
  { of: /of rows\.\d+\.passwordHash$/, what: 'which costs a hash may have' },
  { of: /of (rows\.\d+\.\w+At|createdAt)$/, what: 'which times with an offset are before 1970' },
  {
    of: /of (userId|rows\.\d+\.(userId|requesterId|receiverId|foreignId|id))$/,
    what: 'that one of two fields is needed',
  },
];

/** What is wrong with an answer, in words. `undefined` if the answer is as the document says. */
export function wrongWith(made: Made, answer: Answer): string | undefined {
  const { described, wrong, asker, scheme } = made;
  const { status, headers } = answer;
  // If the headers are too long, the platform refuses the request before it knows the operation. So this answer is in no
  // operation's description.
  if (status === 431) return undefined;
  const types = described.answers.get(String(status));
  if (!types) return `answers ${status}, which is not declared`;
  const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
  if (status >= 500 && !isKeyNobodyCanUse(made, answer)) return `answers ${status} ${answer.text}`;
  if (types.size === 0) {
    if (answer.text !== '') return `answers ${status} with a body, which is not declared`;
  } else if (status !== 304) {
    const check = types.get(type);
    const own = types.get('*/*') ?? types.get('application/octet-stream');
    if (!check && !own) return `answers ${status} as ${type}, which is not declared`;
    if (check && type.endsWith('json') && !check(answer.json())) {
      const [first] = check.errors ?? [];
      return `answers ${status} with a body that violates its schema: ${first?.instancePath} ${first?.message}`;
    }
  }
  if (wrong) return status < 300 ? `accepts a forbidden value in its ${wrong}` : undefined;
  if (status < 400 || asker !== 'known') return undefined;
  const { error, code, field } = answer.json() as { error: string; code: string; field?: string };
  if (scheme === 'serverKey' && (status === 401 || ofKey.test(error)))
    return `refuses a server key: ${error}`;
  if (status === 401) return undefined;
  // The document allows unknown fields in a body. So a body without any known field also follows the document.
  if (error.startsWith('The body has none of the fields that can be changed here')) return undefined;
  // No schema in the document says that a body must have exactly one of several fields.
  if (error.endsWith('Send one of password, code and passkey.')) return undefined;
  const told = field === undefined ? code : `${code} of ${field}`;
  if (!ofForm.test(code) || unsayable.some(({ of }) => of.test(told))) return undefined;
  return `refuses an allowed request: ${told}`;
}

/**
 * Whether an answer refuses a private key that cannot sign. The specification has no other 500 (spec#test-tokens-key-refused).
 */
function isKeyNobodyCanUse({ described }: Made, answer: Answer): boolean {
  return (
    described.id.startsWith('crypto.') && (answer.json() as { code: string }).code === 'crypto/server-error'
  );
}
