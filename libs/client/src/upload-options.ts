/**
 * The bytes of an upload. A `Blob` is read while it is sent. In a page, a `File` is a `Blob`; in Node, `await
 * fs.openAsBlob(path)` gives a `Blob`. A stream can be sent only once. A page reads a stream to its end before it sends
 * anything.
 */
export type UploadSource = Blob | Uint8Array | ReadableStream<Uint8Array>;

/** The progress of an upload, in bytes of the file. */
export interface UploadProgress {
  /** The bytes sent so far. If the file is sent again, this starts again from 0. */
  loaded: number;
  /** The size of the file; undefined for a stream. */
  total: number | undefined;
}

/** The options of one upload. */
export interface UploadOptions {
  /** Ends the upload, so that nothing of the file is stored. The upload then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * The upload fails if it makes no progress for this long, in ms. After all bytes are sent, the answer may take this long.
   * Default: 60,000.
   */
  timeoutMs?: number | undefined;
  /** This function is called with the progress while the file is sent, and at the end. */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
}
