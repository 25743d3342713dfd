/**
 * The bytes of an upload. A `Blob` is read as it is sent: a `File` of a page, or in Node `await fs.openAsBlob(path)`. A stream
 * can be sent only once; a page reads it to its end first.
 */
export type UploadSource = Blob | Uint8Array | ReadableStream<Uint8Array>;

/** How far an upload is, in bytes of the file. */
export interface UploadProgress {
  /** Those that are on their way. It begins anew where the file is sent again. */
  loaded: number;
  /** All of them; undefined for a stream. */
  total: number | undefined;
}

/** How one upload is made. */
export interface UploadOptions {
  /** Ends the upload, of which nothing is stored then: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long the upload may stand still, or wait for its answer once all is sent, in ms. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** Hears how far it is, while it is sent and at the end. */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
}
