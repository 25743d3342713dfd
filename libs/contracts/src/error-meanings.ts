import type { ErrorCode } from './errors.ts';

/** The meaning of a code for the client that gets it, in sentences for the error catalogue. */
export interface ErrorMeaning {
  /** When the API answers with this code. */
  when: string;
  /** What a client does about it. */
  remedy: string;
}

const correct = 'Correct what `field` names, or what the sentence says, and send it again.';
const invalidBody = {
  when: 'A field of the body is missing or is not what the contract asks for.',
  remedy: correct,
};
const invalidQuery = {
  when: 'A parameter of the query is not what the contract asks for, or is there twice; `field: "cursor"` is a cursor of another list, another caller or other filters.',
  remedy: 'Correct what `field` names. For a cursor, begin the list anew.',
};
const serverError = {
  when: 'Something failed that should not have, a database that is away for instance. What it was stands in the log, under the `X-Request-Id` of the answer.',
  remedy:
    'Read again later, with growing pauses. A write may have been done: look before you repeat it. Keep the `X-Request-Id` for who operates the platform.',
};
const noSuchUser = {
  when: 'No user of this project has this id, or the account was deleted.',
  remedy: 'Take the user out of what you show.',
};

/** The meaning of every code of the API. docs/errors.md and the page /docs/errors of each gateway are made from this text. */
export const errorMeanings = {
  'request/invalid-http': {
    when: 'The request breaks the rules of HTTP: a malformed line or header, two hosts, or a body that ends early.',
    remedy: 'Mend the client, or the proxy in between; the same request will fail again.',
  },
  'request/invalid-json': {
    when: 'The body cannot be read as JSON in UTF-8, or is JSON and no object.',
    remedy: 'Send one JSON object, or no body at all.',
  },
  'request/invalid-multipart': {
    when: 'The body of an upload is not a form as RFC 7578 describes it: it has no boundary, ends early, has a head that is too long, or has the file twice.',
    remedy: 'Let the client library write the form, and send one file in each request.',
  },
  'request/unknown-field': {
    when: 'The body or the query of an endpoint under `/admin` has a key that the endpoint does not take; `field` names it. Nothing was changed.',
    remedy: 'Correct the name, or leave the key out.',
  },
  'request/invalid-idempotency-key': {
    when: 'The header `Idempotency-Key` is neither a quoted string nor a bare one without spaces, is empty, or has over 255 characters.',
    remedy: 'Send a new random text, a UUID for instance, in double quotes.',
  },
  'request/in-progress': {
    when: 'The first request with this `Idempotency-Key` has not been answered yet.',
    remedy: 'Send it again in a moment; it is answered as the first one is.',
  },
  'request/idempotency-mismatch': {
    when: 'A request with this `Idempotency-Key` was answered within 24 hours, and it had another body, query or target.',
    remedy: 'Use a new key for each request, and the same key only for sending it again.',
  },
  'request/timeout': {
    when: 'Headers or body did not arrive in full within the time the gateway waits for them.',
    remedy: 'Send it again; on a slow line, in smaller parts.',
  },
  'request/precondition-failed': {
    when: 'The request has `If-Match` or `If-Unmodified-Since`, and what is stored has another `ETag` or a later date.',
    remedy: 'Read it again without the condition.',
  },
  'request/too-large': {
    when: 'The body is over 256 KiB, or over what an upload may have.',
    remedy: 'Send less, or divide it.',
  },
  'request/unsupported-media-type': {
    when: 'The body is there and its `Content-Type` is not `application/json`, or it is compressed or in another encoding.',
    remedy: 'Send plain JSON in UTF-8 and say so in `Content-Type`.',
  },
  'request/expectation-failed': {
    when: 'The request has an `Expect` header other than `100-continue`.',
    remedy: 'Leave the header out.',
  },
  'request/headers-too-large': {
    when: 'The request line and the headers together are over 16 KiB.',
    remedy: 'Shorten the query or the headers, cookies above all: the API needs none.',
  },
  'route/not-found': {
    when: 'No endpoint has this address; in production the endpoints for test tokens are not there either.',
    remedy: 'Check the address against the reference.',
  },
  'route/method-not-allowed': {
    when: 'There is an endpoint at this address, and it does not take this method.',
    remedy: 'Use one of the methods in `Allow`.',
  },
  'rate-limit/exceeded': {
    when: 'The limit of this endpoint is used up for this project and client address, or its ceiling for this client address over all projects; at operators’ endpoints, too many attempts with a wrong token. Nothing was done.',
    remedy:
      'Wait for `Retry-After` seconds, then send it again. `RateLimit` tells beforehand how much is left.',
  },
  'gateway/unavailable': {
    when: 'No process of the service behind this endpoint runs, it has more to do than it can do in time, or the gateway has no keys yet to check tokens with. Nothing was done.',
    remedy: 'Wait for `Retry-After` seconds, then send it again; writes too.',
  },
  'gateway/timeout': {
    when: 'The service behind this endpoint has not answered in time, or has ended before it answered a whole upload. A write may have been done, or be done yet.',
    remedy: 'Read again. Before you repeat a write, look whether it was done.',
  },
  'gateway/server-error': {
    when: 'The gateway itself failed. What it was stands in its log, under the `X-Request-Id` of the answer.',
    remedy: 'As for every 500: read again later, look before you repeat a write.',
  },
  'auth/unauthorized': {
    when: 'There is no access token, or it is malformed, expired, wrongly signed or revoked; a refresh token that is unknown or has ended; or a wrong operator token.',
    remedy:
      'Refresh the session once and send the call again; when the refresh gets this answer, sign in again.',
  },
  'auth/token-expired': {
    when: 'Under the short form of an address with `/v7`, the access token has expired. Everywhere else that is `auth/unauthorized`.',
    remedy: 'Refresh the session and send the call again.',
  },
  'auth/forbidden': {
    when: 'The token is valid and does not allow this: it is of another project, the thing is another user’s, or the key lacks the scope.',
    remedy: 'Do not send it again; check the project and the user of the session, or the scopes of the key.',
  },
  'auth/invalid-credentials': {
    when: 'E-mail address and password do not belong together, or nobody has this address: the two are told alike.',
    remedy: 'Let the user type again.',
  },
  'auth/too-many-attempts': {
    when: 'Ten attempts at this e-mail address have failed within 15 minutes, whoever made them. The password was not looked at. A client from where the user has signed in lately is not affected by the attempts of others.',
    remedy:
      'Wait for `Retry-After` seconds, then let the user type again. Each further failure doubles the wait, up to an hour.',
  },
  'auth/token-reuse-detected': {
    when: 'A refresh token that was replaced more than 30 s ago came again, so that somebody has a copy. The session has ended everywhere.',
    remedy: 'Sign in again. Keep one refresh token at one place, and store each new one before you use it.',
  },
  'auth/missing-keys': {
    when: 'The project has no public key registered that a user token could be checked with.',
    remedy: 'Have an operator register one: `PATCH /admin/projects/:projectId` with `publicKey`.',
  },
  'auth/invalid-token': {
    when: 'A user token is not signed by the project’s key, has expired, is of another issuer or audience, or names no user.',
    remedy:
      'Sign a new one. `iss` is the project id, `aud` the platform’s audience, `sub` the user’s id with you.',
  },
  'auth/key-not-found': {
    when: 'No key has this id; no signing key, also none that was revoked, has this `kid`.',
    remedy:
      'List the keys. The ids of signing keys are in `/.well-known/jwks.json`, and in the header of a token.',
  },
  'auth/session-not-found': {
    when: 'The caller has no session of this id, or it has ended.',
    remedy: 'Nothing; list the sessions again.',
  },
  'auth/invalid-body': invalidBody,
  'auth/invalid-query': invalidQuery,
  'auth/weak-password': {
    when: 'The new password has fewer than 8 characters, is one of the 10,000 most used ones, or is the e-mail address or the username itself.',
    remedy: 'Ask for another one; `field` says which input it was, and `error` what is wrong with it.',
  },
  'auth/not-password-user': {
    when: 'A password or a second factor is to be set for an account that has no password: its user is signed in by the application’s own backend.',
    remedy: 'Nothing to do: this user needs neither here.',
  },
  'auth/second-factor-required': {
    when: 'The password is right, and the account has a second factor. `field` is `code`.',
    remedy: 'Ask for the code, or for a passkey, and send sign-in again with it.',
  },
  'auth/invalid-second-factor': {
    when: 'A code is wrong, over or was used before; or a passkey is not one of the user’s, its challenge is over or was used before, it comes from an origin that is not the project’s, or its signature is wrong. `field` says which of the two.',
    remedy: 'Ask for the next code, or for the passkey again with a new challenge.',
  },
  'auth/step-up-required': {
    when: 'The user has a second factor, and has not proved themselves within the last 5 minutes in the session of the token.',
    remedy: 'Call `POST /auth/step-up` with the password, a code or a passkey, then repeat the request.',
  },
  'auth/factor-not-found': {
    when: 'The caller has no second factor of this id, its enrolment is over, or there is none of the kind that is asked for.',
    remedy: 'List the factors again, or begin a new enrolment.',
  },
  'auth/too-many-factors': {
    when: 'The caller has 10 second factors.',
    remedy: 'Ask which one to remove.',
  },
  'auth/invalid-rp-id': {
    when: 'A passkey is enrolled without `rpId`, or its `rpId` is neither the host of one of the project’s web origins nor a domain above one. A project without web origins takes `localhost` alone.',
    remedy: 'Send the host of the page, and set the project’s web origins.',
  },
  'auth/mail-unavailable': {
    when: 'The installation is in production and has no `SMTP_URL`, or runs on a backup that was not adopted. Nothing was done.',
    remedy: 'Have an operator set `SMTP_URL` and `MAIL_FROM`.',
  },
  'auth/sign-up-closed': {
    when: 'The project’s setting `signUp` is `"closed"`.',
    remedy: 'Do not offer sign-up. Accounts come by `verify-external-user` or by an import.',
  },
  'auth/email-not-verified': {
    when: 'The password is right, the project asks for verified addresses (`requireVerifiedEmail`), and this one is not verified. A mail with a link was sent again.',
    remedy: 'Ask the user to open the link in the mail, then sign in again.',
  },
  'auth/invalid-reset-token': {
    when: 'The token of a password reset is unknown, was used, is older than 1 hour, or is void: a newer mail has replaced it, or the user’s sessions were ended since.',
    remedy: 'Let the user ask for another mail.',
  },
  'auth/invalid-or-expired-token': {
    when: 'The token or code of a mail is wrong, was used, has expired, or a newer mail has replaced it; the token for a new address also after the user’s sessions were ended; a code also after 5 wrong ones, and without the access token of its user.',
    remedy: 'Let the user type the code again, or ask for another mail.',
  },
  'auth/invalid-redirect': {
    when: 'The origin of the address to go back to is not exactly one of the project’s `webOrigins`.',
    remedy: 'Have an operator add the origin to `webOrigins`, or leave the address out.',
  },
  'auth/suspended': {
    when: 'An operator has suspended this account. Its tokens have stopped at once.',
    remedy: 'Sign out here and say so. Trying again changes nothing.',
  },
  'auth/server-error': serverError,
  'user/not-found': noSuchUser,
  'user/invalid-body': invalidBody,
  'user/invalid-query': invalidQuery,
  'user/server-error': serverError,
  'project/invalid-id': {
    when: 'Where the address has the project there is something that is no UUID.',
    remedy: 'Put the project id into the address, as the operator was given it.',
  },
  'project/not-found': {
    when: 'No project has this id, or it was deleted.',
    remedy: 'Check the configuration of the application.',
  },
  'project/invalid-body': invalidBody,
  'project/invalid-query': invalidQuery,
  'project/server-error': serverError,
  'crypto/missing-params': {
    when: '`payload`, `payload.id`, `projectId` or `privateKey` is missing or of the wrong type; `field` says which.',
    remedy: correct,
  },
  'crypto/invalid-body': invalidBody,
  'crypto/invalid-query': invalidQuery,
  'crypto/server-error': {
    when: 'The key cannot sign: it is not base64 of a PEM, not an RSA key, shorter than 2048 or longer than 4096 bits, or slow to sign with. `details` says what.',
    remedy: 'Send another key.',
  },
  'collection/not-found': {
    when: 'The caller has no collection of this id, or it is the root, which can neither be renamed nor deleted. Another’s collection is told like none.',
    remedy: 'Read the tree again.',
  },
  'collection/invalid-name': {
    when: 'The name is missing, not a string, blank, or over 200 characters after trimming.',
    remedy: 'Ask for another name.',
  },
  'collection/invalid-parent': {
    when: 'The caller has no collection of the id that the new one is to lie below.',
    remedy: 'Read the tree again and choose another.',
  },
  'collection/too-deep': {
    when: 'The new collection would lie more than 100 levels below the root.',
    remedy: 'Choose a parent higher up.',
  },
  'collection/invalid-body': invalidBody,
  'collection/invalid-query': invalidQuery,
  'collection/server-error': serverError,
  'connection/not-found': {
    when: 'There is no such connection or request between the caller and anybody, or nothing that could be answered or ended. Others’ connections are told like none.',
    remedy: 'Read the list again: the other side may have been quicker.',
  },
  'connection/user-not-found': noSuchUser,
  'connection/self-request': {
    when: 'The caller has asked to connect with themselves.',
    remedy: 'Do not offer it on the own profile.',
  },
  'connection/self-check': {
    when: 'The caller has asked how they stand to themselves.',
    remedy: 'Do not ask on the own profile.',
  },
  'connection/self-disconnect': {
    when: 'The caller has ended a connection with themselves.',
    remedy: 'Do not offer it on the own profile.',
  },
  'connection/self-block': {
    when: 'The caller has blocked or unblocked themselves.',
    remedy: 'Do not offer it on the own profile.',
  },
  'connection/not-allowed': {
    when: 'One of the two has blocked the other. Which of them is not told.',
    remedy: 'Say that it is not possible; do not send it again.',
  },
  'connection/request-pending': {
    when: 'One of the two has asked already, and the other has not answered.',
    remedy: 'Show the request: the caller withdraws their own, or answers the other’s.',
  },
  'connection/already-connected': {
    when: 'The two are connected.',
    remedy: 'Show the connection.',
  },
  'connection/request-declined': {
    when: 'The caller has asked before and was declined. Only the other side can ask now.',
    remedy: 'Say so; do not send it again.',
  },
  'connection/unauthorized': {
    when: 'The caller is a party of this request, and not the side that may do this: the receiver accepts and declines, the requester withdraws.',
    remedy: 'Offer each side what it may do.',
  },
  'connection/invalid-message': {
    when: 'The message is not a string, or over 1,000 characters after trimming.',
    remedy: 'Ask for a shorter one.',
  },
  'connection/invalid-body': invalidBody,
  'connection/invalid-query': invalidQuery,
  'connection/server-error': serverError,
  'app-notification/not-found': {
    when: 'The caller has no notification of this id: it was taken back, or its days are over.',
    remedy: 'Take it out of what you show.',
  },
  'app-notification/invalid-body': invalidBody,
  'app-notification/invalid-query': invalidQuery,
  'app-notification/server-error': serverError,
  'storage/not-found': {
    when: 'No file of this project has this id, the image does not have this size, or the file was deleted.',
    remedy: 'Take the file out of what you show.',
  },
  'storage/no-file': {
    when: 'The form has no part `file` with a file name.',
    remedy: 'Add the file to the form under the name `file`.',
  },
  'storage/invalid-image': {
    when: 'The bytes are not a JPEG, PNG, WebP, GIF or AVIF image, the image ends early or is damaged, or it has more than 100 megapixels over all frames.',
    remedy: 'Ask for another image. Anything else can be stored as a file.',
  },
  'storage/file-too-large': {
    when: 'The file has more than 50 MiB.',
    remedy: 'Ask for a smaller file.',
  },
  'storage/quota-exceeded': {
    when: 'With this file the user, or the project, would have more bytes stored than its quota allows.',
    remedy: 'Delete files first, or have an operator raise the quota.',
  },
  'storage/invalid-range': {
    when: '`Range` is malformed, or begins behind the end of the file. `Content-Range` says how long it is.',
    remedy: 'Ask for a range within the file, or leave the header out.',
  },
  'storage/invalid-body': invalidBody,
  'storage/invalid-query': invalidQuery,
  'storage/server-error': serverError,
  DUPLICATE_EMAIL: {
    when: 'Another user of this project has the e-mail address.',
    remedy: 'Offer to sign in, or ask for another address.',
  },
  DUPLICATE_USERNAME: {
    when: 'Another user of this project has the username, in whatever case.',
    remedy: 'Ask for another; `GET /users/check-username` tells beforehand.',
  },
} as const satisfies Record<ErrorCode, ErrorMeaning>;
