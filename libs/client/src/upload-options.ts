/**
 * The bytes of an upload. A `Blob` is read while it is sent: a `File` of a page, or in Node `await fs.openAsBlob(path)`. A stream
 * can be sent only once; a page reads it to its end before it sends anything.
 */
export type UploadSource = Blob | Uint8Array | ReadableStream<Uint8Array>;

/** The progress of an upload, in bytes of the file. */
export interface UploadProgress {
  /** The bytes sent so far. It starts again from 0 if the file is sent again. */
  loaded: number;
  /** The size of the file; undefined for a stream. */
  total: number | undefined;
}

/** The options of one upload. */
export interface UploadOptions {
  /** Ends the upload, so that nothing of it is stored: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long the upload may go without progress, or wait for its answer after all is sent, in ms. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** Gets the progress, while the file is sent and at the end. */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
}
