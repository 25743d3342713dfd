// Makes the users of the database server. docker-compose runs this file when the server is up, before the services start.
// Usage: `node make-database-users.ts <folder>`. setup.ts has written the folder.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDatabaseUsers } from './database-users.ts';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder: node make-database-users.ts <folder>');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const passwords: Record<string, string> = JSON.parse(read('passwords.json'));

await ensureDatabaseUsers({
  url: read('root-url'),
  ca: read('ca.pem'),
  prefix: process.env.KITH_PREFIX || 'kith',
  passwordOf(user) {
    const password = passwords[user];
    if (!password) throw new Error(`${user} has no password in ${folder}.`);
    return password;
  },
});
