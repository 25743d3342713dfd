// Makes the NATS users and an operator token in a folder: what docker-compose runs before the NATS server.
// `node setup.ts <folder>`, with KITH_PREFIX as everywhere.
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureNatsUsers } from './users.ts';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder: node setup.ts <folder>');
await ensureNatsUsers(folder, process.env.KITH_PREFIX || 'kith');

const tokenFile = join(folder, 'gateway', 'operator-token');
if (!existsSync(tokenFile)) writeFileSync(tokenFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
