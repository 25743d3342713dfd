import type { Project } from '@kith/contracts';
import { type Command, needed } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { printProjects, settingHelp, settingOptions, settingsOf } from './projects-shared.ts';

/** Registers a project. */
export const createProjectCommand: Command = {
  name: 'projects create',
  summary: 'register a project',
  help: `kith projects create --name NAME [settings]\n\n  --name NAME\n${settingHelp}`,
  reads: accessConfig,
  options: { name: { type: 'string' }, ...settingOptions },
  async run(given, around) {
    const body = { name: needed(given, 'name'), ...settingsOf(given, around) };
    const project = await accessPlatform(around).call<Project>('POST', '/admin/projects', body);
    printProjects(around, [project], given.options.json === true);
    return 0;
  },
};
