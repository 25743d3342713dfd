import { holdsTheLoopBriefly } from './support/hostile/suite.ts';

/**
 * This quick suite sends only the hostile requests whose names match both patterns. `some` chooses values that once blocked the
 * event loop, or that would block it without a limit. `most` chooses operations and headers, so that these values are sent in
 * bodies, tokens, rows of imports and a header.
 */
const some =
  /: (combining marks|a ligature that .*|an object of objects|a list of empty objects|as many as there may be|of 16,384 bits|with a large exponent)$/;
const most =
  /^(identity\.(sign-in|sign-up|verify-external-user|update-user|create-project)|collections\.add-entity|crypto|.*\.import|\w+ authorization)/;

holdsTheLoopBriefly(({ name }) => some.test(name) && most.test(name), { timeoutMs: 180_000, atLeast: 100 });
