import { StartError } from '@kith/base/config';

/** The error for a file that the user has named but that cannot be read. */
export function unreadable(file: string, { code }: { code?: string | undefined }): StartError {
  if (code === 'ENOENT') return new StartError(`There is no file ${file}.`);
  if (code === 'EISDIR') return new StartError(`${file} is a folder; a file is needed.`);
  return new StartError(`${file} cannot be read (${code}).`);
}
