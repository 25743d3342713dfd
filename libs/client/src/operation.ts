/** What the client has to know about an operation to call it; made from its contract. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly auth: 'operator' | 'user' | 'server-key' | 'optional' | 'none';
  /** Its path is below the root and not below a project. */
  readonly isGlobal?: boolean;
  /** For a list: the key of its items, `''` for a bare array. */
  readonly list?: string;
  /** Its answer is a session, which the client then uses. */
  readonly startsSession?: boolean;
  /** For an upload: the name of the form's part that has the bytes, and of the input that they come from. */
  readonly upload?: string;
  /** Its answer is a stream of bytes. */
  readonly givesBytes?: boolean;
  readonly takesInput?: boolean;
  /** It is not a read, but doing it twice is the same as doing it once. */
  readonly isRepeatable?: boolean;
  /** It takes an Idempotency-Key: sent again with the same key, it is done only once. */
  readonly takesKey?: boolean;
  /** The inputs that go into the query, for an operation that also has a body. */
  readonly query?: readonly string[];
}

export type OperationTable = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The one argument of a method: parameters of the path, query and body together. */
export type Input = Readonly<Record<string, unknown>>;

/** The options of one call. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long each attempt may take, in ms, instead of the client's `timeoutMs`. */
  timeoutMs?: number | undefined;
  /**
   * Names the write, 1 to 255 printable ASCII characters. A write that is repeated with the same key within 24 hours is done once:
   * for example, after the page was loaded again. By default each call has its own key, which covers its retries.
   */
  idempotencyKey?: string | undefined;
}
