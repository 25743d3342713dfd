import type { UploadProgress } from '@kith/client';
import { useEffect, useRef, useState } from 'react';
import { avatarEdge, avatarSize } from '../lib/pictures.ts';
import { sentenceOf } from '../lib/sentences.ts';
import { useKith } from './use-kith.ts';
import { useProfileUpdate } from './use-profile.ts';
import { useUser } from './use-session.ts';

export interface PictureUpload {
  /** The progress of the upload, from 0 to 1; `undefined` while there is no upload. */
  progress: number | undefined;
  /** Why the last upload failed. */
  problem: string | undefined;
  start(file: File): Promise<void>;
  cancel(): void;
}

/** Uploads a picture of the signed-in user, and deletes the previous picture. */
export function usePictureUpload(): PictureUpload {
  const kith = useKith();
  const { avatarFileId: before } = useUser();
  const update = useProfileUpdate();
  const [progress, setProgress] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const running = useRef<AbortController>(undefined);
  // Leaving the page cancels the upload.
  useEffect(() => () => running.current?.abort(), []);

  /** Makes a file the user's picture. If this fails, deletes the file, because nobody would see it. */
  const setPicture = async (fileId: string, signal: AbortSignal) => {
    try {
      signal.throwIfAborted();
      await update({ avatarFileId: fileId });
    } catch (error) {
      // If the answer was lost, it is unknown whether the profile has the new picture. The refreshed session contains the
      // profile. If the session cannot be refreshed, the file stays, because the profile may show it.
      const session = await kith.auth.refresh().catch(() => {
        throw error;
      });
      if (session?.user.avatarFileId === fileId) return;
      await kith.storage.deleteFile({ fileId }).catch(() => {});
      throw error;
    }
  };
  const start = async (file: File) => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setProblem(undefined);
    setProgress(0);
    const onProgress = ({ loaded, total = loaded }: UploadProgress) => setProgress(loaded / total);
    try {
      const sizes = { [avatarSize]: avatarEdge };
      const { fileId } = await kith.storage.createImage({ file, sizes }, { signal, onProgress });
      await setPicture(fileId, signal);
      if (before) await kith.storage.deleteFile({ fileId: before });
    } catch (error) {
      if (!signal.aborted) setProblem(sentenceOf(error));
    } finally {
      setProgress(undefined);
    }
  };
  return { progress, problem, start, cancel: () => running.current?.abort() };
}
