import type { Project } from '@kith/contracts';
import { type Command, textOf, UsageError } from '../command.ts';
import { projectPath } from '../paths.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { projectWord, settingOptions, settingsOf, settingsText } from './projects-shared.ts';

/** Changes a project's name or settings. A setting that is not given keeps its value. */
export const updateProjectCommand: Command = {
  name: 'projects update',
  summary: 'change a project’s name or settings',
  text: `Settings that you do not give stay unchanged. Limits and web origins that you give replace all the earlier
ones. Without --json, prints all settings, as \`kith projects show\` does.`,
  reads: accessConfig,
  options: {
    name: { value: 'NAME', text: 'the name of the project' },
    ...settingOptions,
    'no-public-key': { text: 'remove the public key' },
    'usual-limits': { text: 'remove the project’s own limits' },
    'any-web-origin': { text: 'remove the list of origins' },
    'no-mail-link-base': { text: 'let links in mails lead to the first web origin' },
    'usual-mail-texts': { text: 'use the usual subjects and texts of mails' },
    'usual-storage': { text: 'remove the project’s own quota, so that STORAGE_PROJECT_MIB applies again' },
    ...accessOptions,
  },
  words: [projectWord],
  async run(given, around) {
    const name = textOf(given, 'name');
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(given.options['no-public-key'] ? { publicKey: null } : {}),
      ...(given.options['usual-limits'] ? { limits: {} } : {}),
      ...(given.options['any-web-origin'] ? { webOrigins: [] } : {}),
      ...(given.options['no-mail-link-base'] ? { mailLinkBase: null } : {}),
      ...(given.options['usual-mail-texts'] ? { mailTexts: {} } : {}),
      ...(given.options['usual-storage'] ? { storageMib: null } : {}),
      ...settingsOf(given, around),
    };
    if (Object.keys(body).length === 0) throw new UsageError('Name at least one setting to change.');
    const path = projectPath(given.words[0]);
    const project = await accessPlatform(given, around).call<Project>('PATCH', path, body);
    return { value: [project], text: settingsText(project) };
  },
};
