import type { RecordedBlob } from '@kith/store/backup';

/** Collects the files whose bytes cannot be read completely. Prints a warning for each of them. */
export class DamagedFiles {
  readonly #progress: (line: string) => void;
  readonly #found = new Map<string, Pick<RecordedBlob, 'fileId' | 'projectId' | 'userId'>>();

  constructor(progress: (line: string) => void) {
    this.#progress = progress;
  }

  readonly note = ({ fileId, projectId, userId }: RecordedBlob): void => {
    // Two projects may have imported files with the same id.
    const place = `${projectId}|${fileId}`;
    if (this.#found.has(place)) return;
    this.#found.set(place, { fileId, projectId, userId });
    this.#progress(
      `warning: the file ${fileId} of the user ${userId} in the project ${projectId} is damaged; only its readable bytes are copied`,
    );
  };

  /** What a backup adds to the result of its command. */
  get result(): { damaged?: object[] } {
    return this.#found.size > 0 ? { damaged: [...this.#found.values()] } : {};
  }
}
