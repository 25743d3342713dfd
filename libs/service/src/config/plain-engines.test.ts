import { expect, test } from 'vitest';
import { refusePlainEngines } from './plain-engines.ts';

const check = (addresses: Partial<Parameters<typeof refusePlainEngines>[0]>) =>
  refusePlainEngines({ NODE_ENV: 'production', ALLOW_PLAIN_ENGINES: false, ...addresses });

test.each([
  [{}],
  [
    {
      NATS_URL: 'nats://127.0.0.1:4222',
      MONGODB_URL: 'mongodb://localhost',
      REDIS_URL: 'redis://[::1]:6379',
    },
  ],
  [{ NATS_URL: 'tls://nats:4222', NATS_NKEY: 'seed' }],
  [{ NATS_URL: 'tls://kith:secret@one:4222, nats://two:4222' }],
  [{ MONGODB_URL: 'mongodb://identity:secret@mongo:27017/?authSource=admin&tls=true' }],
  [{ MONGODB_URL: 'mongodb+srv://identity:secret@cluster.example.com/?w=majority' }],
  [{ MONGODB_URL: 'mongodb://mongo/?authMechanism=MONGODB-X509&ssl=true' }],
  [{ REDIS_URL: 'rediss://gateway:secret@redis:6379' }],
  [{ NATS_URL: 'nats://nats:4222', ALLOW_PLAIN_ENGINES: true }],
  [{ NATS_URL: 'nats://nats:4222', NODE_ENV: 'development' }],
])('accepts %j', (addresses) => {
  expect(() => check(addresses)).not.toThrow();
});

test.each([
  [
    { NATS_URL: 'nats://nats:4222' },
    'NATS_URL: in production an engine on a network needs TLS and credentials',
  ],
  [
    { NATS_URL: 'nats://127.0.0.1:4222,nats://nats:4222', NATS_NKEY: 'seed' },
    'NATS_URL: in production an engine on a network needs TLS;',
  ],
  [{ NATS_URL: 'tls://nats:4222' }, 'NATS_URL: in production an engine on a network needs credentials'],
  [
    { MONGODB_URL: 'mongodb://localhost,mongo/?tls=true' },
    'MONGODB_URL: in production an engine on a network needs credentials',
  ],
  [
    { MONGODB_URL: 'mongodb://identity:hunter2@mongo/?tls=false' },
    'MONGODB_URL: in production an engine on a network needs TLS;',
  ],
  [
    { MONGODB_URL: 'mongodb://mongo/localhost' },
    'MONGODB_URL: in production an engine on a network needs TLS and credentials',
  ],
  [
    { REDIS_URL: 'redis://:hunter2@redis:6379' },
    'REDIS_URL: in production an engine on a network needs TLS;',
  ],
])('refuses %j', (addresses, sentence) => {
  expect(() => check(addresses)).toThrow(sentence);
  expect(() => check(addresses)).not.toThrow('hunter2');
});
