// Reads from the manifests what each credential can do, and writes this into docs/transport.md. With `--check`, it writes
// nothing, and fails if the result would differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { databaseUsers, natsRights, redisRights } from '@kith/platform';

const prefix = 'kith';
const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join('<br>');
const databases = new Map(databaseUsers(prefix).map(({ name, databases }) => [name, databases]));

const rows = Object.entries(natsRights(prefix)).map(([name, { publish, subscribe }]) =>
  ['', `**${name}**`, code(publish), code(subscribe), code(databases.get(name) ?? []), ''].join(' | ').trim(),
);
const { gateway, operator } = redisRights(prefix);
const commandsOf = ({ commands }: typeof gateway) => commands.map((one) => `\`${one}\``).join(', ');
const table = [
  '| credential | may publish to, on NATS | may subscribe to | reads and writes |',
  '|---|---|---|---|',
  ...rows,
  '',
  `On Redis the gateway may use the keys \`${gateway.keys}\` with ${commandsOf(gateway)}. The operator may use the key \`${operator.keys}\`, under which nothing is counted, with ${commandsOf(operator)}. No other process may sign in there.`,
].join('\n');

const path = new URL('../docs/transport.md', import.meta.url);
const page = readFileSync(path, 'utf8');
const written = page.replace(
  /(<!-- credentials -->\n)[\s\S]*?(<!-- \/credentials -->)/,
  (_, start: string, end: string) => `${start}${table}\n${end}`,
);
if (!process.argv.includes('--check')) writeFileSync(path, written);
else if (written !== page) {
  console.error('docs/transport.md: its table differs from the manifests; run tools/docs-credentials.ts');
  process.exit(1);
}
