import { readFileSync } from 'node:fs';
import type { Project } from '@kith/contracts';
import { type Given, type Option, type Result, type Surroundings, textOf, type Word } from '../command.ts';
import { resolvePath } from '../data-folder.ts';
import { unreadable } from '../file-error.ts';
import { tableOf } from '../table.ts';
import { yesOrNo, yesOrNoChoices } from './yes-or-no.ts';

export const projectWord: Word = { value: 'ID', what: 'project id' };

/** What creating and updating a project take beside its name. */
export const settingOptions = {
  'public-key': { value: 'FILE', text: 'the key that verifies the project’s own tokens, PEM or JWK' },
  'web-origin': { value: 'URL', text: 'a web origin that may call the API', multiple: true },
  'public-profiles': { choices: yesOrNoChoices, text: 'whether anybody may read profiles' },
  'public-connections': { choices: yesOrNoChoices, text: 'whether anybody may list a user’s connections' },
} satisfies Record<string, Option>;

/** Reads the settings that were given. */
export function settingsOf(given: Given, { env }: Surroundings): Record<string, unknown> {
  const key = textOf(given, 'public-key');
  const origins = given.options['web-origin'];
  return {
    ...(key === undefined ? {} : { publicKey: readKey(resolvePath(key, env)) }),
    ...(origins === undefined ? {} : { webOrigins: origins }),
    ...yesOrNo(given, 'public-profiles', 'publicProfiles'),
    ...yesOrNo(given, 'public-connections', 'publicConnections'),
  };
}

/** Shows projects. */
export function projectsResult(projects: readonly Project[]): Result {
  const text = tableOf(projects, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    created: ({ createdAt }) => createdAt,
    profiles: ({ publicProfiles }) => (publicProfiles ? 'public' : 'private'),
    connections: ({ publicConnections }) => (publicConnections ? 'public' : 'private'),
    'own key': ({ publicKey }) => (publicKey === null ? 'no' : 'yes'),
  });
  return { value: projects, text };
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}
