import { type Command, Failure, textOf } from '../command.ts';
import { isConfirmed } from '../confirm.ts';
import { projectPath, segmentOf } from '../paths.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';

/** Asks for confirmation, and then deletes a file of any user. */
export const deleteFileCommand: Command = {
  name: 'files delete',
  summary: 'delete a file of any user, for example a damaged file',
  text: `The file is gone at once for everybody. This cannot be undone. kith backup prints the ids of missing and damaged files and of
their projects.`,
  reads: accessConfig,
  options: {
    project: { value: 'ID', text: 'the file’s project', isNeeded: true },
    yes: { text: 'delete it without asking' },
    ...accessOptions,
  },
  words: [{ value: 'ID', what: 'file id' }],
  async run(given, around) {
    const [id = ''] = given.words;
    const path = `${projectPath(textOf(given, 'project'))}/files/${segmentOf(id)}`;
    const { call } = accessPlatform(given, around);
    if (given.options.yes !== true) {
      const question = `This deletes the file ${id}. Type yes to go on: `;
      if (!(await isConfirmed(question, 'yes', 'Add --yes to delete the file for good.')))
        throw new Failure('not-confirmed', 'The file was not deleted.');
    }
    await call('DELETE', path);
    return { value: [{ id, status: 'deleted' }], text: `The file ${id} is deleted\n` };
  },
};
