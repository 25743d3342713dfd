import type { RecordedBlob } from '@kith/store/backup';
import { Failure } from '../command.ts';

/** Collects the files whose bytes cannot be read completely. Prints a warning for each of them. */
export class DamagedFiles {
  readonly #progress: (line: string) => void;
  readonly #found = new Map<string, Pick<RecordedBlob, 'fileId' | 'projectId'>>();

  constructor(progress: (line: string) => void) {
    this.#progress = progress;
  }

  readonly note = ({ fileId, projectId }: RecordedBlob): void => {
    if (this.#found.has(fileId)) return;
    this.#found.set(fileId, { fileId, projectId });
    this.#progress(
      `warning: the file ${fileId} of the project ${projectId} is damaged; only its readable bytes are copied`,
    );
  };

  /** What a backup adds to the result of its command. */
  get result(): { damaged?: object[] } {
    return this.#found.size > 0 ? { damaged: [...this.#found.values()] } : {};
  }

  /** A damaged file must not go unnoticed, so a backup with such a file does not end with 0. */
  get failure(): Failure | undefined {
    if (this.#found.size === 0) return undefined;
    const names = [...this.#found.values()].map(
      ({ fileId, projectId }) => `${fileId} of project ${projectId}`,
    );
    return new Failure(
      'files-damaged',
      `The backup is made, but these files are damaged: ${names.join(', ')}. The backup has only their readable bytes.`,
    );
  }
}
