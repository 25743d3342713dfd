import { expect, test } from 'vitest';
import { redactUrl } from './redact-url.ts';

test.each([
  ['nats://host:4222', 'nats://host:4222'],
  ['mongodb://app:pw@one:1,two:2/db', 'mongodb://one:1,two:2/db'],
  ['s3://key:ab/cd+ef=@host:9000/bucket', 's3://host:9000/bucket'],
  ['app:pw@nats:4222', 'nats:4222'],
  ['nats://u:p@ss@host', 'nats://host'],
  ['rediss://:p,w@host:6379 does not answer', 'rediss://host:6379 does not answer'],
  ['nats://a:b@one,nats://c:d@two', 'nats://two'],
  ['MongoDB at mongodb://u:p@host says: no', 'MongoDB at mongodb://host says: no'],
])('%s becomes %s', (text, redacted) => {
  expect(redactUrl(text)).toBe(redacted);
});
