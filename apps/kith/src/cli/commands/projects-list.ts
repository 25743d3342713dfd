import type { Project } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { walkList } from '../walk-list.ts';
import { printProjects } from './projects-shared.ts';

/** Lists all projects, newest first. */
export const listProjectsCommand: Command = {
  name: 'projects list',
  summary: 'list all projects',
  help: 'kith projects list [--json]',
  reads: accessConfig,
  options: { json: { type: 'boolean' } },
  async run(given, around) {
    const projects = await walkList<Project>(accessPlatform(around), '/admin/projects');
    printProjects(around, projects, given.options.json === true);
    return 0;
  },
};
