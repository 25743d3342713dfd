import type { ErrorCode } from './errors.ts';

/** What a code means for the client that gets it. The sentences are printed in the error catalogue. */
export interface ErrorMeaning {
  /** When the API answers with this code. */
  when: string;
  /** What the client should do. */
  remedy: string;
}

const correct = 'Correct the input that `field` or `error` names, and send the request again.';
const invalidBody = {
  when: 'A field of the body is missing, or its value does not fit the contract.',
  remedy: correct,
};
const invalidQuery = {
  when: 'A parameter of the query is given twice, or its value does not fit the contract. If `field` is `cursor`, the cursor belongs to another list, another caller or other filters.',
  remedy:
    'Correct the parameter that `field` names. If it is the cursor, start the list again without a cursor.',
};
const serverError = {
  when: 'Something failed unexpectedly, for example because a database cannot be reached. The log has the reason, under the `X-Request-Id` of the answer.',
  remedy:
    'Repeat a read later, with increasing pauses. A write may have been done, so check this before you repeat the write. Give the `X-Request-Id` to the operator of the platform.',
};
const noSuchUser = {
  when: 'No user of this project has this id, or the account was deleted.',
  remedy: 'Stop showing this user.',
};

/** The meaning of every code of the API. docs/errors.md and the page /docs/errors of each gateway are made from this text. */
export const errorMeanings = {
  'request/invalid-http': {
    when: 'The request breaks the rules of HTTP: a malformed line or header, two hosts, or a body that ends early.',
    remedy: 'Correct the client, or the proxy between the client and Kith. The same request will fail again.',
  },
  'request/invalid-json': {
    when: 'The body cannot be read as JSON in UTF-8, or is JSON but not an object. Or the JSON nests deeper than 100 levels, or has a key `__proto__`.',
    remedy: 'Send one JSON object, or no body at all.',
  },
  'request/invalid-multipart': {
    when: 'The body of an upload is not a form as in RFC 7578: it has no boundary, ends early, has a part whose headers are too long, or contains the file twice.',
    remedy: 'Let an HTTP library write the form, and send one file in each request.',
  },
  'request/unknown-field': {
    when: 'The body or the query of an endpoint under `/admin` has a key that the endpoint does not accept. `field` names the key. Nothing was changed.',
    remedy: 'Correct the name of the key, or leave the key out.',
  },
  'request/invalid-idempotency-key': {
    when: 'The header `Idempotency-Key` is empty, has more than 255 characters, or is neither a quoted string nor a text without spaces.',
    remedy: 'Send a new random text in double quotes, for example a UUID.',
  },
  'request/in-progress': {
    when: 'The first request with this `Idempotency-Key` has not been answered yet.',
    remedy:
      'Repeat the request in a moment. When the first request has been answered, the repeated request gets the same answer.',
  },
  'request/idempotency-mismatch': {
    when: 'A request with this `Idempotency-Key` was answered within the last 24 hours, but had another body, query or target.',
    remedy: 'Use a new key for each request. Use the same key only to repeat the same request.',
  },
  'request/timeout': {
    when: 'The headers or the body did not arrive completely within the time that the gateway waits for them.',
    remedy: 'Repeat the request. On a slow connection, send less in each request.',
  },
  'request/precondition-failed': {
    when: 'The request has `If-Match` or `If-Unmodified-Since`, but the stored version has another `ETag` or a later date.',
    remedy: 'Read the file again without the condition.',
  },
  'request/too-large': {
    when: 'The body is larger than 256 KiB. For an upload: the form is larger than the endpoint allows.',
    remedy: 'Send less, or divide the data into several requests.',
  },
  'request/unsupported-media-type': {
    when: 'The `Content-Type` of the body is not `application/json`, or the body is compressed or not in UTF-8.',
    remedy: 'Send plain JSON in UTF-8, with `application/json` as `Content-Type`.',
  },
  'request/expectation-failed': {
    when: 'The request has an `Expect` header other than `100-continue`.',
    remedy: 'Leave the header out.',
  },
  'request/headers-too-large': {
    when: 'The request line and the headers together are over 16 KiB.',
    remedy: 'Shorten the query or the headers. In particular, leave out cookies, because the API needs none.',
  },
  'route/not-found': {
    when: 'No endpoint has this address. In production, the endpoints for test tokens exist only if `ALLOW_TEST_TOKENS` is set.',
    remedy: 'Compare the address with the API reference.',
  },
  'route/method-not-allowed': {
    when: 'The endpoint at this address does not take this method.',
    remedy: 'Use one of the methods in `Allow`.',
  },
  'rate-limit/exceeded': {
    when: 'One of two limits of this endpoint is used up: the limit for this client address in this project, or the limit for this client address in all projects together. At an operators’ endpoint: too many requests had a wrong token. Nothing was done.',
    remedy:
      'Wait for `Retry-After` seconds, then repeat the request. The `RateLimit` header of earlier answers says how many requests are left.',
  },
  'gateway/unavailable': {
    when: 'No process of the service behind this endpoint is running, the service has more requests than it can answer in time, or the gateway has not received the keys for checking tokens yet. Nothing was done.',
    remedy: 'Wait for `Retry-After` seconds, then repeat the request, even if it is a write.',
  },
  'gateway/timeout': {
    when: 'The service behind this endpoint did not answer in time, or ended after it had received a whole upload and before it answered. A write may have been done, or may still be done.',
    remedy: 'Repeat a read. Before you repeat a write, check whether it was done.',
  },
  'gateway/server-error': {
    when: 'The gateway itself failed. Its log has the reason, under the `X-Request-Id` of the answer.',
    remedy: 'Repeat a read later. A write may have been done, so check this before you repeat the write.',
  },
  'auth/unauthorized': {
    when: 'The access token is missing, malformed, expired, wrongly signed or revoked. Or the refresh token is unknown or has ended. Or the operator token is wrong.',
    remedy:
      'Refresh the session once and repeat the request. If the refresh also gets this code, sign in again.',
  },
  'auth/token-expired': {
    when: 'The access token has expired, and the address is a short form with `/v7`. At all other addresses the code is `auth/unauthorized`.',
    remedy: 'Refresh the session and repeat the request.',
  },
  'auth/forbidden': {
    when: 'The token is valid but does not allow this request: it belongs to another project, the object belongs to another user, or the key lacks the scope.',
    remedy:
      'Do not repeat the request. Check the project and the user of the session, or the scopes of the key.',
  },
  'auth/invalid-credentials': {
    when: 'The password is wrong for this e-mail address, or no user has this address. The answer is the same in both cases.',
    remedy: 'Let the user type again.',
  },
  'auth/too-many-attempts': {
    when: 'Ten attempts with this e-mail address have failed within 15 minutes, from any clients. The password was not checked. If the user has recently signed in from the same client, only the failures of this client are counted. Wrong second factors of a user are counted in the same way, but separately from passwords. For second factors, a client has a count of its own only if it has recently sent a correct second factor. Or the user’s address was changed 50 times within 7 days.',
    remedy:
      'Wait for `Retry-After` seconds, then let the user type again. Each further failure doubles the wait, up to an hour. After 50 changes of the address, the wait is up to 7 days.',
  },
  'auth/token-reuse-detected': {
    when: 'A refresh token was used again, more than 30 s after a new token had replaced it, or after the new token had already been used. Somebody else may have a copy of the token, so the session has ended everywhere.',
    remedy:
      'Sign in again. Keep the refresh token in a single place, and store each new refresh token before you use it.',
  },
  'auth/missing-keys': {
    when: 'The project has no public key, so the platform cannot check a `userJwt`.',
    remedy: 'Have an operator register the key: `PATCH /admin/projects/:projectId` with `publicKey`.',
  },
  'auth/invalid-token': {
    when: 'The `userJwt` is not signed by the project’s key, has expired, is valid for longer than `externalTokenMaxAge`, has another issuer or audience, or names no user. Or the user’s account was erased after the `userJwt` was issued.',
    remedy:
      'Sign a new JWT. `iss` is the project id, `aud` is the platform’s audience, and `sub` is the user’s id in your system.',
  },
  'auth/key-not-found': {
    when: 'No key has this id. For signing keys: no key has this `kid`, not even a revoked one.',
    remedy:
      'List the keys. The ids of signing keys are in `/.well-known/jwks.json`, and in the header of a token.',
  },
  'auth/session-not-found': {
    when: 'The caller has no session with this id, or the session has ended.',
    remedy: 'List the sessions again.',
  },
  'auth/invalid-body': invalidBody,
  'auth/invalid-query': invalidQuery,
  'auth/weak-password': {
    when: 'The new password has fewer than 8 characters, is one of the 10,000 most used ones, or is the e-mail address or the username itself.',
    remedy: 'Ask for another password. `field` names the input, and `error` says what is wrong with it.',
  },
  'auth/not-password-user': {
    when: 'The application’s own backend signs this user in, or the user was imported without a password. So the account can have neither a second factor nor another e-mail address to sign in with.',
    remedy:
      'Do not offer these functions to this user. If the account has an e-mail address, a reset of the password gives it a password.',
  },
  'auth/second-factor-required': {
    when: 'The password is right, and the account has a second factor. `field` is `code`.',
    remedy: 'Ask for the code or for a passkey, and repeat the sign-in with it.',
  },
  'auth/invalid-second-factor': {
    when: 'The code is wrong, has expired or was used before. Or the passkey does not belong to the user, its challenge has expired or was used before, its origin is not one of the project’s, or its signature is wrong. `field` says whether it was the code or the passkey.',
    remedy: 'Ask for the next code, or for the passkey again with a new challenge.',
  },
  'auth/step-up-required': {
    when: 'The user has a second factor, but has not proved their identity within the last 5 minutes, in the session of the access token.',
    remedy: 'Call `POST /auth/step-up` with the password, a code or a passkey, then repeat the request.',
  },
  'auth/factor-not-found': {
    when: 'The caller has no second factor with this id or of this kind, or its enrolment has expired.',
    remedy: 'List the factors again, or begin a new enrolment.',
  },
  'auth/too-many-factors': {
    when: 'The caller has 10 second factors.',
    remedy: 'Ask the user which factor to remove.',
  },
  'auth/invalid-rp-id': {
    when: 'A passkey is enrolled without `rpId`, or the `rpId` is neither the host of one of the project’s web origins nor a domain above such a host. A project without web origins takes only `localhost`.',
    remedy: 'Send the host of the page as `rpId`, and add its origin to the project’s web origins.',
  },
  'auth/mail-unavailable': {
    when: 'The installation is in production and has no `SMTP_URL`, or it runs on a backup that was not adopted (`kith adopt`). Nothing was done.',
    remedy: 'Have an operator set `SMTP_URL` and `MAIL_FROM`.',
  },
  'auth/sign-up-closed': {
    when: 'The project’s setting `signUp` is `"closed"`.',
    remedy: 'Do not offer sign-up. Only `verify-external-user` and imports create accounts.',
  },
  'auth/email-not-verified': {
    when: 'The password is right, the project asks for verified addresses (`requireVerifiedEmail`), and this address is not verified. A mail with a link was sent again.',
    remedy: 'Ask the user to open the link in the mail, then sign in again.',
  },
  'auth/invalid-reset-token': {
    when: 'The token of a password reset is unknown, was used, or is older than 1 hour. Or a newer mail has replaced it, or the user’s sessions have been ended since.',
    remedy: 'Let the user ask for another mail.',
  },
  'auth/invalid-or-expired-token': {
    when: 'The token or code of a mail is wrong, was used, has expired, or was replaced by a newer mail. The token for a new address also becomes invalid when the user’s password is changed, or when an operator ends the user’s sessions or suspends the user. A code also becomes invalid after 5 wrong attempts, and needs the access token of its user.',
    remedy: 'Let the user type the code again, or ask for another mail.',
  },
  'auth/invalid-redirect': {
    when: 'The address to return to has an origin that is not exactly one of the project’s `webOrigins`.',
    remedy: 'Have an operator add the origin to `webOrigins`, or leave the address out.',
  },
  'auth/suspended': {
    when: 'An operator has suspended this account. Its tokens stopped working immediately.',
    remedy: 'Sign out in the application and tell the user. Repeating the request changes nothing.',
  },
  'auth/server-error': serverError,
  'user/not-found': noSuchUser,
  'user/invalid-body': invalidBody,
  'user/invalid-query': invalidQuery,
  'user/server-error': serverError,
  'project/invalid-id': {
    when: 'The project id in the address is not a UUID.',
    remedy: 'Put the project id into the address. Operators find it with `kith projects list`.',
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
    when: 'The key cannot sign: it is not a PEM in base64, is not an RSA key, has fewer than 2048 or more than 4096 bits, or signs too slowly. `details` says why.',
    remedy: 'Send another key.',
  },
  'collection/not-found': {
    when: 'The caller has no collection with this id, or the collection is the root, which can neither be renamed nor deleted. For another user’s collection, the answer is the same.',
    remedy: 'Read the tree again.',
  },
  'collection/invalid-name': {
    when: 'The name is missing, not a string, blank, or over 200 characters after trimming.',
    remedy: 'Ask for another name.',
  },
  'collection/invalid-parent': {
    when: 'The caller has no collection with the id of the parent.',
    remedy: 'Read the tree again and choose another parent.',
  },
  'collection/too-deep': {
    when: 'The new collection would be more than 100 levels below the root.',
    remedy: 'Choose a parent higher up.',
  },
  'collection/invalid-body': invalidBody,
  'collection/invalid-query': invalidQuery,
  'collection/server-error': serverError,
  'connection/not-found': {
    when: 'The caller has no such connection or request, or it was already answered or ended. For connections of other users, the answer is the same.',
    remedy:
      'Read the list again. The other user may have answered the request or ended the connection first.',
  },
  'connection/user-not-found': noSuchUser,
  'connection/self-request': {
    when: 'The caller has tried to connect with themselves.',
    remedy: 'Do not offer this action on the caller’s own profile.',
  },
  'connection/self-check': {
    when: 'The caller has asked for the connection with themselves.',
    remedy: 'Do not ask for the connection on the caller’s own profile.',
  },
  'connection/self-disconnect': {
    when: 'The caller has tried to end a connection with themselves.',
    remedy: 'Do not offer this action on the caller’s own profile.',
  },
  'connection/self-block': {
    when: 'The caller has tried to block or unblock themselves.',
    remedy: 'Do not offer this action on the caller’s own profile.',
  },
  'connection/not-allowed': {
    when: 'One of the two users has blocked the other. The answer does not say which.',
    remedy: 'Tell the user that a connection is not possible. Do not repeat the request.',
  },
  'connection/request-pending': {
    when: 'One of the two users has already sent a request, and the other has not answered it.',
    remedy:
      'Show the request. The caller can withdraw their own request, or answer the request of the other user.',
  },
  'connection/already-connected': {
    when: 'The two users are connected.',
    remedy: 'Show the connection.',
  },
  'connection/request-declined': {
    when: 'The other user has declined an earlier request of the caller. Now only the other user can send a request.',
    remedy: 'Tell the user that the request was declined. Do not repeat it.',
  },
  'connection/unauthorized': {
    when: 'Only the receiver of a request can accept or decline it, and only its requester can withdraw it.',
    remedy: 'Offer each of the two users only the actions that this user may take.',
  },
  'connection/invalid-message': {
    when: 'The message is not a string, or over 1,000 characters after trimming.',
    remedy: 'Ask for a shorter message.',
  },
  'connection/invalid-body': invalidBody,
  'connection/invalid-query': invalidQuery,
  'connection/server-error': serverError,
  'app-notification/not-found': {
    when: 'The caller has no notification with this id. Perhaps it was withdrawn, or deleted because of its age.',
    remedy: 'Stop showing this notification.',
  },
  'app-notification/invalid-body': invalidBody,
  'app-notification/invalid-query': invalidQuery,
  'app-notification/server-error': serverError,
  'storage/not-found': {
    when: 'No file of this project has this id, the image does not have this size, or the file was deleted.',
    remedy: 'Stop showing this file.',
  },
  'storage/no-file': {
    when: 'The form has no part `file` with a file name. Browsers send an empty file name if nobody has chosen a file.',
    remedy: 'Add the file to the form under the name `file`, with a file name.',
  },
  'storage/invalid-image': {
    when: 'The bytes are not a JPEG, PNG, WebP, GIF or AVIF image, the image is incomplete or damaged, all its frames together have more than 100 megapixels (or 50, with 16 bits a channel), or it takes too long to render the image in all its sizes.',
    remedy:
      'Ask the user for another image. If rendering takes too long, you can also request fewer sizes. To upload a file that is not an image, use `storage.create-file`.',
  },
  'storage/file-too-large': {
    when: 'The file has more than 50 MiB.',
    remedy: 'Ask for a smaller file.',
  },
  'storage/quota-exceeded': {
    when: 'With this file, the user or the project would store more bytes than the quota allows.',
    remedy: 'Delete files first, or have an operator raise the quota.',
  },
  'storage/invalid-range': {
    when: '`Range` is malformed, or starts after the end of the file. `Content-Range` gives the length of the file.',
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
    when: 'Another user of this project has this username. Upper and lower case make no difference.',
    remedy:
      'Ask for another username. `GET /users/check-username` tells beforehand whether a username is free.',
  },
} as const satisfies Record<ErrorCode, ErrorMeaning>;
