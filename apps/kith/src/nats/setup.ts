// Makes the NATS users, an operator token and the secret of the installation in a folder: what docker-compose runs before the NATS server.
// `node setup.ts <folder>`, with KITH_PREFIX as everywhere.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretNames } from '../services.ts';
import { ensureNatsUsers } from './users.ts';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder: node setup.ts <folder>');
await ensureNatsUsers(folder, process.env.KITH_PREFIX || 'kith');

const tokenFile = join(folder, 'gateway', 'operator-token');
if (!existsSync(tokenFile)) writeFileSync(tokenFile, randomBytes(32).toString('base64url'), { mode: 0o600 });

// One for the gateway, those that trust what it signs, and those that seal.
const secretFile = (name: string) => join(folder, name, 'secret');
const secret = existsSync(secretFile('gateway'))
  ? readFileSync(secretFile('gateway'), 'utf8')
  : randomBytes(32).toString('base64url');
for (const name of ['gateway', ...secretNames]) writeFileSync(secretFile(name), secret, { mode: 0o600 });
