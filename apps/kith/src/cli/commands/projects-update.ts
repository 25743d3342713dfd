import type { Project } from '@kith/contracts';
import { type Command, optional, UsageError } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { printProjects, settingHelp, settingOptions, settingsOf } from './projects-shared.ts';

/** Changes a project's name or settings; what is not given stays. */
export const updateProjectCommand: Command = {
  name: 'projects update',
  summary: 'change a project’s name or settings',
  help: `kith projects update ID [settings]

Settings that are not given stay unchanged.

  --name NAME
  --no-public-key           remove the public key
  --any-web-origin          remove the list of origins
${settingHelp}`,
  reads: accessConfig,
  options: {
    name: { type: 'string' },
    'no-public-key': { type: 'boolean' },
    'any-web-origin': { type: 'boolean' },
    ...settingOptions,
  },
  words: ['project id'],
  async run(given, around) {
    const name = optional(given, 'name');
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(given.options['no-public-key'] ? { publicKey: null } : {}),
      ...(given.options['any-web-origin'] ? { webOrigins: [] } : {}),
      ...settingsOf(given, around),
    };
    if (Object.keys(body).length === 0) throw new UsageError('Name at least one setting to change.');
    const path = `/admin/projects/${encodeURIComponent(given.words[0] ?? '')}`;
    const project = await accessPlatform(around).call<Project>('PATCH', path, body);
    printProjects(around, [project], given.options.json === true);
    return 0;
  },
};
