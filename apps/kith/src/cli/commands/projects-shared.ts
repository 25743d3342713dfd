import type { BodyOf, Project, updateProject } from '@kith/contracts';
import {
  type Given,
  type Option,
  type Result,
  type Surroundings,
  textOf,
  UsageError,
  type Word,
} from '../command.ts';
import { resolvePath } from '../data-folder.ts';
import { readText } from '../read-text.ts';
import { tableOf } from '../table.ts';
import { yesOrNo, yesOrNoChoices } from './yes-or-no.ts';

export const projectWord: Word = { value: 'ID', what: 'project id' };

/** The options of the commands that create and update a project, apart from the option for the project's name. */
export const settingOptions = {
  'public-key': { value: 'FILE', text: 'the key that verifies the project’s own tokens, PEM or JWK' },
  limit: {
    value: 'OPERATION=MAX/SECONDS',
    text: 'the project’s own limit of an operation: identity.sign-in=100/300, or identity.sign-in=none',
    multiple: true,
  },
  'web-origin': { value: 'URL', text: 'a web origin that may call the API', multiple: true },
  'public-profiles': {
    choices: ['card', 'all', 'none'],
    text: 'what a profile shows without a token: only the card (default), all of it, or nothing',
  },
  'public-connections': { choices: yesOrNoChoices, text: 'whether anybody may list a user’s connections' },
  'storage-mib': { value: 'N', text: 'maximum MiB of files that the project may store' },
  'external-token-max-age': {
    value: 'SECONDS',
    text: 'how long the project’s own tokens may be valid: 3600 (default) to 86400',
  },
  'sign-up': { choices: ['open', 'closed'], text: 'whether anybody may sign up' },
  'require-verified-email': {
    choices: yesOrNoChoices,
    text: 'whether users can sign in only after their e-mail address is verified',
  },
  'mail-link-base': { value: 'URL', text: 'the page of the application that links in mails lead to' },
  'mail-texts': {
    value: 'FILE',
    text: 'JSON file with subjects and texts of mails that replace the usual ones',
  },
} satisfies Record<string, Option>;

/** Reads the settings that were given. */
export function settingsOf(given: Given, { env }: Surroundings): Record<string, unknown> {
  const key = textOf(given, 'public-key');
  const storageMib = textOf(given, 'storage-mib');
  if (storageMib !== undefined && !/^\d+$/.test(storageMib)) {
    throw new UsageError('--storage-mib must be a whole number of MiB.');
  }
  const maxAge = textOf(given, 'external-token-max-age');
  if (maxAge !== undefined && !/^\d+$/.test(maxAge)) {
    throw new UsageError('--external-token-max-age must be a whole number of seconds.');
  }
  const publicProfiles = textOf(given, 'public-profiles');
  const origins = given.options['web-origin'];
  const signUp = textOf(given, 'sign-up');
  const mailLinkBase = textOf(given, 'mail-link-base');
  const mailTexts = textOf(given, 'mail-texts');
  const limits = given.options.limit;
  return {
    ...(limits === undefined ? {} : { limits: limitsIn([limits].flat()) }),
    ...(key === undefined ? {} : { publicKey: readText(resolvePath(key, env)) }),
    ...(origins === undefined ? {} : { webOrigins: origins }),
    ...(publicProfiles === undefined ? {} : { publicProfiles }),
    ...yesOrNo(given, 'public-connections', 'publicConnections'),
    ...(storageMib === undefined ? {} : { storageMib: Number(storageMib) }),
    ...(maxAge === undefined ? {} : { externalTokenMaxAge: Number(maxAge) }),
    ...(signUp === undefined ? {} : { signUp }),
    ...yesOrNo(given, 'require-verified-email', 'requireVerifiedEmail'),
    ...(mailLinkBase === undefined ? {} : { mailLinkBase }),
    ...(mailTexts === undefined ? {} : { mailTexts: jsonIn(resolvePath(mailTexts, env)) }),
  };
}

const limitForm = /^([^=]+)=(?:(\d{1,15})\/(\d{1,15})|none)$/;

/** Reads limits by operation. `none` means that the operation has no limit. Throws `UsageError`. */
function limitsIn(given: readonly (string | boolean)[]): NonNullable<BodyOf<typeof updateProject>['limits']> {
  const limits = given.map((text) => {
    const [, operation = '', max, seconds] = limitForm.exec(String(text)) ?? [];
    if (operation === '')
      throw new UsageError('--limit must be OPERATION=MAX/SECONDS, for example identity.sign-in=100/300.');
    const limit = max === undefined ? null : { max: Number(max), windowSeconds: Number(seconds) };
    return [operation, limit] as const;
  });
  return Object.fromEntries(limits);
}

function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readText(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`${path} does not contain valid JSON.`);
  }
}

/** All settings of a project, for people. */
export function settingsText(project: Project): string {
  return `${JSON.stringify(project, null, 2)}\n`;
}

/** Shows projects. */
export function projectsResult(projects: readonly Project[]): Result {
  const text = tableOf(projects, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    created: ({ createdAt }) => createdAt,
    profiles: ({ publicProfiles }) => publicProfiles,
    connections: ({ publicConnections }) => (publicConnections ? 'public' : 'private'),
    'own key': ({ publicKey }) => (publicKey === null ? 'no' : 'yes'),
  });
  return { value: projects, text };
}
