import type { RecordedBlob, RecordedFile } from '@kith/store/backup';
import type { BlobFaults } from '@kith/store/blobs';
import type { LiveFiles } from './live-files.ts';

/** The maximum number of files that are named for each fault. So memory stays small even if most files have a fault. */
const mostNamed = 1_000;

/** Collects the files whose bytes are damaged or missing. Prints up to `mostNamed` warnings for each of the two faults. */
export class FaultyFiles implements BlobFaults<RecordedBlob> {
  readonly #progress: (line: string) => void;
  readonly #platform: Pick<LiveFiles, 'has'> | undefined;
  readonly #damaged = new Found();
  readonly #missing = new Found();

  /** With `platform`, files that the platform no longer has do not count as missing, because they were deleted meanwhile. */
  constructor(progress: (line: string) => void, platform?: Pick<LiveFiles, 'has'>) {
    this.#progress = progress;
    this.#platform = platform;
  }

  damaged({ file }: RecordedBlob): void {
    if (this.#damaged.add(file)) this.#progress(`warning: the file ${named(file)} is damaged`);
  }

  async missing(blob: RecordedBlob): Promise<void> {
    if (this.#platform && !(await this.#platform.has(blob))) return;
    const { file } = blob;
    if (this.#missing.add(file)) this.#progress(`warning: bytes of the file ${named(file)} are missing`);
  }

  get hasMissing(): boolean {
    return this.#missing.count > 0;
  }

  /** Prints how many files have faults, and why their bytes may be missing. */
  summarize(why: string): void {
    const [damaged, missing] = [this.#damaged.count, this.#missing.count];
    if (damaged > 0)
      this.#progress(`warning: damaged files: ${damaged}; only their readable bytes are copied`);
    if (missing > 0) this.#progress(`warning: files with missing bytes: ${missing}; ${why}`);
  }

  /** What a backup adds to the result of its command. */
  get result(): { damaged?: RecordedFile[]; missing?: RecordedFile[] } {
    const [damaged, missing] = [this.#damaged.named, this.#missing.named];
    return { ...(damaged.length > 0 && { damaged }), ...(missing.length > 0 && { missing }) };
  }
}

/** Files with one fault. A file counts once, even if several of its blobs have the fault. */
class Found {
  count = 0;
  readonly named: RecordedFile[] = [];
  /** Does not keep a file in memory after its last blob. */
  readonly #counted = new WeakSet<RecordedFile>();

  /** Counts a file. Returns whether to name it. */
  add(file: RecordedFile): boolean {
    if (this.#counted.has(file)) return false;
    this.#counted.add(file);
    if (++this.count > mostNamed) return false;
    this.named.push(file);
    return true;
  }
}

function named({ fileId, projectId, userId }: RecordedFile): string {
  return `${fileId} of the user ${userId} in the project ${projectId}`;
}
