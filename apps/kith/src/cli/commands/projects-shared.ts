import { readFileSync } from 'node:fs';
import type { ParseArgsOptionsConfig } from 'node:util';
import type { Project } from '@kith/contracts';
import { type Given, optional, type Surroundings, UsageError } from '../command.ts';
import { unreadable } from '../file-error.ts';
import { resolvePath } from '../platform-access.ts';
import { print } from '../table.ts';

/** What creating and updating a project take beside its name. */
export const settingOptions: ParseArgsOptionsConfig = {
  'public-key': { type: 'string' },
  'web-origin': { type: 'string', multiple: true },
  'public-profiles': { type: 'string' },
  'public-connections': { type: 'string' },
  json: { type: 'boolean' },
};

/** What `--help` says of them. */
export const settingHelp = `  --public-key FILE         the key that verifies the project's own tokens, PEM or JWK
  --web-origin URL          a web origin that may call the API; repeatable
  --public-profiles yes|no
  --public-connections yes|no
  --json                    print the project as JSON`;

/** Reads the settings that were given. */
export function settingsOf(given: Given, { env }: Surroundings): Record<string, unknown> {
  const key = optional(given, 'public-key');
  const origins = given.options['web-origin'];
  return {
    ...(key === undefined ? {} : { publicKey: readKey(resolvePath(key, env)) }),
    ...(origins === undefined ? {} : { webOrigins: origins }),
    ...yesOrNo(given, 'public-profiles', 'publicProfiles'),
    ...yesOrNo(given, 'public-connections', 'publicConnections'),
  };
}

/** Prints projects as a table, or as JSON. */
export function printProjects(around: Surroundings, projects: readonly Project[], json: boolean): void {
  print(around, projects, {
    json,
    columns: {
      id: ({ id }) => id,
      name: ({ name }) => name,
      created: ({ createdAt }) => createdAt,
      profiles: ({ publicProfiles }) => (publicProfiles ? 'public' : 'private'),
      connections: ({ publicConnections }) => (publicConnections ? 'public' : 'private'),
      'own key': ({ publicKey }) => (publicKey === null ? 'no' : 'yes'),
    },
  });
}

function yesOrNo(given: Given, option: string, field: string): Record<string, boolean> {
  const value = optional(given, option);
  if (value === undefined) return {};
  if (value !== 'yes' && value !== 'no') throw new UsageError(`--${option} must be yes or no.`);
  return { [field]: value === 'yes' };
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}
