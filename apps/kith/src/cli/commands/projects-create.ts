import type { Project } from '@kith/contracts';
import { type Command, textOf } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { projectsResult, settingOptions, settingsOf } from './projects-shared.ts';

/** Registers a project. */
export const createProjectCommand: Command = {
  name: 'projects create',
  summary: 'register a project',
  reads: accessConfig,
  options: {
    name: { value: 'NAME', text: 'the name of the project', isNeeded: true },
    ...settingOptions,
    ...accessOptions,
  },
  async run(given, around) {
    const body = { name: textOf(given, 'name'), ...settingsOf(given, around) };
    const project = await accessPlatform(given, around).call<Project>('POST', '/admin/projects', body);
    return projectsResult([project]);
  },
};
