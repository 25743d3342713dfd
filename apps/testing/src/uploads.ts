import type { Methods, StoredFile, StoredImage, UploadSource } from '@kith/client';
import type { TestUser } from './people.ts';
import { smallPng } from './small-png.ts';
import { testClient } from './test-client.ts';

/** Functions that store the files that a test needs before it begins. */
export interface Uploads {
  /** Stores bytes or a text as a file of the user. */
  uploadFile(user: TestUser, file: UploadSource | string, name?: string): Promise<StoredFile>;
  /** Stores an image for the user: `input.file`, or by default a red PNG of 16 × 16 pixels. */
  uploadImage(user: TestUser, input?: Partial<Methods['storage.createImage']['input']>): Promise<StoredImage>;
}

export function createUploads(url: string): Uploads {
  return {
    uploadFile: (user, file, name) =>
      testClient(url, user).storage.createFile({
        file: typeof file === 'string' ? new TextEncoder().encode(file) : file,
        name,
      }),
    uploadImage: (user, input) =>
      testClient(url, user).storage.createImage({ file: smallPng, name: 'small.png', ...input }),
  };
}
