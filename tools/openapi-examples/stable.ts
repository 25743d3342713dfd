import { hash } from 'node:crypto';

const uuidForm = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const jwtForm = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const apiKeyForm = /kith_(op|sk)_[\w-]{43}/g;
const instantForm = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;
const first = Date.parse('2026-01-05T09:00:00.000Z');
const oneMinute = 60_000;

/** The values of these keys are random, secret or both. The replacements look like the real values. */
const replaced: Readonly<Record<string, (value: string) => string>> = {
  kid: () => opaque('kid').slice(0, 22),
  n: (value) =>
    Array.from({ length: 8 }, (_, index) => opaque(`n${index}`))
      .join('')
      .slice(0, value.length),
  // A token from a mail is replaced here, because it is not a JSON Web Token. JSON Web Tokens are replaced below.
  token: (value) => (/^[\w-]{43}$/.test(value) ? opaque('token') : value),
  privateKey: () => 'LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2Z0lCQURBTkJna3Foa2lHOXcwQkFRRUZBQVNDQktn…',
  publicKey: (value) =>
    value.startsWith('-----')
      ? '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A…\n-----END PUBLIC KEY-----\n'
      : opaque('public key'),
  // The id of a passkey is replaced here, because it is not a UUID. UUIDs are numbered below.
  id: (value) =>
    /^(.{22}|.{43})$/.test(value) ? opaque(`id ${value.length}`).slice(0, value.length) : value,
  challenge: () => opaque('challenge'),
  clientDataJSON: () => opaque('client'),
  authenticatorData: () => opaque('authenticator'),
  signature: () => opaque('signature'),
};

/** Made-up recovery codes. They replace the real codes, which are secret. */
const recoveryCodes = [...'ABCDEFGHIJ'].map((letter) => Array(4).fill(letter.repeat(6)).join('-'));

/**
 * Makes recorded JSON the same in every recording. Ids are numbered in the order of their first use. Points in time keep their
 * order, but are a minute apart. All points in time of one request become the same point, because two readings of the clock in
 * one request fall into the same millisecond only by chance. Tokens and keys are replaced.
 *
 * @param begins When the recording and each of its requests began, in ms, in order. No two requests share a millisecond.
 */
export function makeStable(value: unknown, begins: readonly number[]): unknown {
  const refreshTokens: string[] = [];
  const text = JSON.stringify(value, (key, inner) => {
    if (key === 'recoveryCodes') return recoveryCodes;
    if (typeof inner !== 'string') return inner;
    if (key !== 'refreshToken') return replaced[key]?.(inner) ?? inner;
    if (!refreshTokens.includes(inner)) refreshTokens.push(inner);
    return opaque(`refresh ${refreshTokens.indexOf(inner)}`);
  });
  const now = Date.now();
  const momentOf = (instant: string): number => {
    const at = Date.parse(instant);
    // A time in the future is the end of something, for example of a token. Such a time does not belong to a request.
    return at > now ? at : (begins.findLast((begin) => begin <= at) ?? at);
  };
  const instants = text.match(instantForm) ?? [];
  const moments = [...new Set(instants.map(momentOf))].toSorted((one, other) => one - other);
  const ids = [...new Set(text.match(uuidForm))];
  const stable = text
    .replaceAll(jwtForm, jwt)
    .replaceAll(apiKeyForm, (_, kind) => `kith_${kind}_${opaque(`key ${kind}`)}`)
    .replaceAll(instantForm, (at) =>
      new Date(first + moments.indexOf(momentOf(at)) * oneMinute).toISOString(),
    )
    .replaceAll(uuidForm, (id) => uuid(ids.indexOf(id)));
  return JSON.parse(stable);
}

/** A version 4 UUID made from a number. */
function uuid(index: number): string {
  const hex = hash('sha256', `id ${index}`);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}

const jwt = 'eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI1ZDBjNGYyZSJ9.c2lnbmF0dXJl';

/** 43 characters without a meaning. */
function opaque(name: string): string {
  return hash('sha256', name, 'base64url');
}
