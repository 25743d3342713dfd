import type { Project } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { walkList } from '../walk-list.ts';
import { projectsResult } from './projects-shared.ts';

/** Lists all projects, newest first. */
export const listProjectsCommand: Command = {
  name: 'projects list',
  summary: 'list all projects',
  reads: accessConfig,
  options: accessOptions,
  async run(given, around) {
    return projectsResult(await walkList<Project>(accessPlatform(given, around), '/admin/projects'));
  },
};
