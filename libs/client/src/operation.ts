/** What the client has to know of an operation to call it; made from its contract. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly auth: 'operator' | 'user' | 'server-key' | 'optional' | 'none';
  /** It stands below the root and not below a project. */
  readonly isGlobal?: boolean;
  /** Of a list: the key its items stand under, `''` for a bare array. */
  readonly list?: string;
  /** Its answer is a session, which the client goes on with. */
  readonly startsSession?: boolean;
  /** Of an upload: the part of its form that has the bytes, which is their name in the input, too. */
  readonly upload?: string;
  /** Its answer is bytes, as they come. */
  readonly givesBytes?: boolean;
  readonly takesInput?: boolean;
  /** Doing it twice does the same as doing it once, though it is no read. */
  readonly isRepeatable?: boolean;
  /** It takes an Idempotency-Key: sent again under it, it is done once. */
  readonly takesKey?: boolean;
  /** What goes into the query of an operation that has a body as well. */
  readonly query?: readonly string[];
}

export type OperationTable = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The one argument of a method: parameters of the path, query and body together. */
export type Input = Readonly<Record<string, unknown>>;

/** How one call is made. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long each attempt may take, in ms, instead of the client's `timeoutMs`. */
  timeoutMs?: number | undefined;
  /**
   * Names the write, 1 to 255 printable ASCII characters. Repeated with the same key within 24 hours it is done once, for example
   * after the page was loaded again. By default each call has a key of its own, which covers its retries.
   */
  idempotencyKey?: string | undefined;
}
