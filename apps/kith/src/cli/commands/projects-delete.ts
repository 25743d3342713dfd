import type { DeletedProject, Project } from '@kith/contracts';
import { type Command, Failure } from '../command.ts';
import { isConfirmed } from '../confirm.ts';
import { projectPath } from '../paths.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { projectWord } from './projects-shared.ts';

/** Asks for confirmation, and then deletes a project with all its data. */
export const deleteProjectCommand: Command = {
  name: 'projects delete',
  summary: 'delete a project with its users and all their data',
  text: `The project stops answering at once. Its data is then erased in the background: kith projects show ID tells how many users are
left, and finds no project once everything is erased. This cannot be undone.`,
  reads: accessConfig,
  options: { yes: { text: 'delete it without asking' }, ...accessOptions },
  words: [projectWord],
  async run(given, around) {
    const access = accessPlatform(given, around);
    const path = projectPath(given.words[0]);
    if (given.options.yes !== true) {
      const { name } = await access.call<Project>('GET', path);
      if (!(await confirm(name))) throw new Failure('not-confirmed', 'The project was not deleted.');
    }
    const deleted = await access.call<DeletedProject>('DELETE', path);
    return { value: [deleted], text: `The project ${deleted.id} is being deleted\n` };
  },
};

/** Asks at the terminal for the project's name. Throws `UsageError` if there is no terminal. */
function confirm(name: string): Promise<boolean> {
  const shown = name.replaceAll(/\p{Cc}/gu, ' ');
  const question = `This erases all data of the project “${shown}”. Type its name to go on: `;
  return isConfirmed(question, shown, 'Add --yes to delete the project for good.');
}
