/** The data that the client needs to call an operation. It is generated from the operation's contract. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly auth: 'operator' | 'user' | 'server-key' | 'optional' | 'none';
  /** Whether the path begins at the root of the API, and not below a project. */
  readonly isGlobal?: boolean;
  /** For a list: the key of its items in the answer; `''` for a bare array. */
  readonly list?: string;
  /** Whether the answer is a session. The client then uses the session. */
  readonly startsSession?: boolean;
  /** For an upload: the name of the form part that holds the bytes. The input of the method has the bytes under the same name. */
  readonly upload?: string;
  /** Whether the answer is a stream of bytes. */
  readonly givesBytes?: boolean;
  readonly takesInput?: boolean;
  /** Whether the operation is a write that may be repeated, because doing it twice has the same effect as doing it once. */
  readonly isRepeatable?: boolean;
  /**
   * Whether the operation takes an Idempotency-Key. If a request is sent again with the same key, the operation is done only
   * once.
   */
  readonly takesKey?: boolean;
  /** The inputs that go into the query, for an operation that also has a body. */
  readonly query?: readonly string[];
}

export type OperationTable = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The one argument of a method: parameters of the path, query and body together. */
export type Input = Readonly<Record<string, unknown>>;

/** The options of one call. */
export interface CallOptions {
  /** Ends the call when the signal is aborted. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long each attempt may take, in ms, instead of the client's `timeoutMs`. */
  timeoutMs?: number | undefined;
}

/** The options of one write that takes an Idempotency-Key. Such a write is the sign-up, or a write of a signed-in user. */
export interface WriteOptions extends CallOptions {
  /**
   * The Idempotency-Key, which names this write. It has 1 to 255 printable ASCII characters. If a write is repeated with the
   * same key within 24 hours, it is done only once. This works even after the page was loaded again. By default, each call has
   * its own key, which covers its retries.
   */
  idempotencyKey?: string | undefined;
}
