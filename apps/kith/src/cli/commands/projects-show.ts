import type { Project } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';

/** Shows all of a project's settings. */
export const showProjectCommand: Command = {
  name: 'projects show',
  summary: 'show a project with all its settings',
  help: 'kith projects show ID',
  reads: accessConfig,
  options: {},
  words: ['project id'],
  async run({ words }, around) {
    const path = `/admin/projects/${encodeURIComponent(words[0] ?? '')}`;
    const project = await accessPlatform(around).call<Project>('GET', path);
    around.stdout.write(`${JSON.stringify(project, null, 2)}\n`);
    return 0;
  },
};
