import type { Project } from '@kith/contracts';
import type { Command } from '../command.ts';
import { projectPath } from '../paths.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { projectWord, settingsText } from './projects-shared.ts';

/** Shows all of a project's settings. */
export const showProjectCommand: Command = {
  name: 'projects show',
  summary: 'show a project with all its settings, as JSON',
  reads: accessConfig,
  options: accessOptions,
  words: [projectWord],
  async run(given, around) {
    const path = projectPath(given.words[0]);
    const value = await accessPlatform(given, around).call<Project>('GET', path);
    return { value, text: settingsText(value) };
  },
};
