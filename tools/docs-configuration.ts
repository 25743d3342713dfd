// Writes the table of environment variables into docs/configuration.md, from the zod schemas that read the variables. With
// `--check`, it writes nothing, and fails if the result would differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { tracingConfig } from '@kith/base';
import { sharedGatewayConfig } from '@kith/gateway';
import { platformConfig, services } from '@kith/platform';
import { accessConfig } from '@kith/platform/cli';
import { commonConfig, natsConfig } from '@kith/service';
import type { z } from 'zod';

const readers: [string, z.ZodObject][] = [
  ['gateway', sharedGatewayConfig],
  ...services.map(({ name, config }): [string, z.ZodObject] => [name, config]),
  // The embedded form reads neither variable, because it counts limits in memory, and its gateway finds the port for files by
  // itself.
  ['`npm start`', platformConfig.omit({ REDIS_URL: true, HTTP_PORT: true })],
  ['`kith`', accessConfig],
  ['all', tracingConfig],
];
const everywhere = new Set<string>(Object.keys(commonConfig.shape));
const distributed = new Set<string>(Object.keys(natsConfig.shape));

const rows = new Map<string, { by: string[]; text: string; preset: string }>();
for (const [reader, schema] of readers) {
  for (const [name, field] of Object.entries<z.ZodType>(schema.shape)) {
    const row = rows.get(name) ?? { by: [], text: field.description ?? '', preset: presetOf(schema, name) };
    row.by.push(reader);
    rows.set(name, row);
  }
}

const table = [
  '| name | default | what it is | read by |',
  '|---|---|---|---|',
  ...[...rows].map(([name, { by, text, preset }]) => {
    const who = everywhere.has(name) ? 'all' : distributed.has(name) ? 'every service' : by.join(', ');
    return `| \`${name}\` | ${preset} | ${text} | ${who} |`;
  }),
].join('\n');

/** The default value of a variable, as somebody would write it in the environment. */
function presetOf(schema: z.ZodObject, name: string): string {
  const field = (schema.shape as Record<string, z.ZodType>)[name] as z.ZodType;
  const parsed = field.safeParse(undefined);
  if (!parsed.success) return '(needed)';
  if (parsed.data === undefined) return '';
  const value = Array.isArray(parsed.data) ? parsed.data.join(',') : parsed.data;
  if (value === '') return '';
  return typeof value === 'object' ? '`{}`' : `\`${value}\``;
}

const path = new URL('../docs/configuration.md', import.meta.url);
const page = readFileSync(path, 'utf8');
const written = page.replace(
  /(<!-- configuration -->\n)[\s\S]*?(<!-- \/configuration -->)/,
  (_, start: string, end: string) => `${start}${table}\n${end}`,
);
if (process.argv.includes('--check')) {
  if (written !== page) {
    console.error(
      'docs/configuration.md: the table differs from the schemas; run tools/docs-configuration.ts',
    );
    process.exit(1);
  }
} else writeFileSync(path, written);
