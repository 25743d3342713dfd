import { openAsBlob } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '@kith/base/config';
import {
  type ImportedFile,
  type ImportResult,
  importResult,
  importRows,
  maxFileBytes,
  statusOf,
} from '@kith/contracts';
import { CallError, jsonOf, RedirectError, refuseRedirect } from '../../demo/api.ts';
import type { PlatformAccess } from '../platform-access.ts';

/** How long to wait for a platform that is unreachable or overloaded, in ms. */
const patienceMs = 60_000;
const longestWaitMs = 5_000;

/** The results of sent rows. Rows are rejected by the platform or by this command. */
export type SentRows = Omit<ImportResult, 'rejected'> & {
  rejected: { row: number; reason: string; fields?: string[] | undefined }[];
};

/** Where rows come from and go to. */
export interface Sending {
  access: Pick<PlatformAccess, 'url' | 'token'>;
  path: string;
  /** The file that has the rows. */
  file: string;
  pace: Pace;
  signal: AbortSignal;
}

/** How long a request should take, in ms. This is well below the platform's time limit (`REQUEST_TIMEOUT_MS`). */
const goodMs = 1_500;

/**
 * How many requests are under way at the same time. Four are enough that the platform never waits for this process to read the
 * file. The embedded form stores four requests in one transaction. If eight are under way, the next four arrive during this
 * transaction.
 */
const [few, many] = [4, 8];

/**
 * Decides how many rows of the imported file go into one request, and how many requests are under way at the same time. It
 * decides this from the time that earlier requests have taken. If the platform does not answer a request in time, it still
 * continues to work on the request. If the same request came again, the two requests would compete, and the second would take
 * even longer. So the next request has fewer rows, and comes after a pause.
 */
export class Pace {
  #rows: number;
  /** Whether an answer was slow or late. Until then, `#rows` grows fast, as in TCP, and many requests may be under way. */
  #wasSlow = false;
  #atOnce = few;
  readonly #pauseMs: number;

  /**
   * @param rows How many rows the first request has. The number is small, because the platform may still be busy with earlier
   * rows.
   * @param pauseMs How long to send nothing after a request that the platform has not answered in time.
   */
  constructor({ rows = 100, pauseMs = 5_000 }: { rows?: number; pauseMs?: number } = {}) {
    this.#rows = rows;
    this.#pauseMs = pauseMs;
  }

  get rows(): number {
    return this.#rows;
  }

  /**
   * How many requests may be under way at the same time. The number is higher if the platform answers complete batches quickly.
   */
  get atOnce(): number {
    return this.#atOnce;
  }

  /**
   * Notes that a request was answered. Later requests have fewer rows if this request took long, and more if it did not.
   * @param batch How many rows the request would have without a limit.
   */
  answered(rows: number, tookMs: number, batch = rows): void {
    if (!this.#wasSlow && rows === batch && tookMs < goodMs / 2) this.#atOnce = many;
    if (tookMs > goodMs) this.#limit(Math.floor((rows * goodMs) / tookMs));
    // A request with fewer rows does not show that more rows can be answered in time.
    else if (rows >= this.#rows) {
      const growth = Math.min(this.#wasSlow ? 1.1 : 2, goodMs / tookMs);
      this.#rows = Math.min(importRows, Math.ceil(growth * rows));
    }
  }

  /** Makes a pause, and lets later requests have fewer rows. */
  async slowDown(rows: number, signal: AbortSignal): Promise<void> {
    this.#limit(Math.ceil(rows / 2));
    await wait(this.#pauseMs, undefined, { signal });
  }

  #limit(rows: number): void {
    this.#rows = Math.max(1, Math.min(this.#rows, rows));
    this.#wasSlow = true;
    this.#atOnce = few;
  }
}

/**
 * Sends rows. While the platform is unreachable, slow or failing, sends the same rows again. This is safe, because a row that
 * is already stored changes nothing. Rejects with `CallError` for any other answer, and with `StartError` if the address redirects
 * to another server, or if nobody answers for a minute. `signal` ends the sending.
 */
export type Send = (rows: readonly string[], sending: Sending) => Promise<SentRows>;

/** Sends rows as JSON. If the platform does not answer in time, sends fewer rows in a request. */
export const sendRows: Send = async (rows, sending) => {
  const all: SentRows = { imported: 0, unchanged: 0, rejected: [] };
  for (let sent = 0; sent < rows.length; ) {
    const some = rows.slice(sent, sent + sending.pace.rows);
    const body = { headers: { 'content-type': 'application/json' }, body: `{"rows":[${some.join(',')}]}` };
    const begun = performance.now();
    const result = await send(sending, body, { isDivisible: some.length > 1 });
    if (result === 'too-slow') {
      await sending.pace.slowDown(some.length, sending.signal);
      continue;
    }
    sending.pace.answered(some.length, performance.now() - begun, rows.length);
    all.imported += result.imported;
    all.unchanged += result.unchanged;
    for (const one of result.rejected) all.rejected.push({ ...one, row: one.row + sent });
    sent += some.length;
  }
  return all;
};

/** Sends one row of an import of files, together with the bytes of its file, as a form. Streams the bytes from the disk. */
export const sendFile: Send = async ([row = ''], sending) => {
  const { path, name = basename(path), ...fields }: ImportedFile = JSON.parse(row);
  const bytes = await bytesAt(path, dirname(sending.file));
  if (typeof bytes === 'string') return { imported: 0, unchanged: 0, rejected: [{ row: 0, reason: bytes }] };
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) {
    if (value != null) form.append(field, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  // The file comes last, because the other fields describe what to do with it.
  form.append('file', bytes, sendable(name));
  return send(sending, { headers: {}, body: form });
};

/**
 * The part of a name that a form can carry and that the platform stores. This is the last part of a path, without control
 * characters. The platform refuses a form whose file name contains a control character or ends with a backslash.
 */
function sendable(name: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  return last.replaceAll(/\p{Cc}/gu, '') || 'file';
}

/**
 * The bytes at a path below a folder, or the reason why there are none. Refuses paths outside of the folder, because other folders
 * may hold files that are not meant for an import.
 */
async function bytesAt(path: string, folder: string): Promise<Blob | string> {
  try {
    const [real, root] = await Promise.all([realpath(resolve(folder, path)), realpath(folder)]);
    if (!real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`))
      return 'path must be below the folder of this file.';
    const about = await stat(real);
    if (!about.isFile()) return 'path is not a file.';
    if (about.size > maxFileBytes) return `The file is larger than ${maxFileBytes / (1024 * 1024)} MiB.`;
    return await openAsBlob(real);
  } catch (error) {
    return `The file cannot be read: ${(error as NodeJS.ErrnoException).code}.`;
  }
}

type Body = Required<Pick<RequestInit, 'headers' | 'body'>>;

/** Returns `too-slow` if the platform did not answer in time and the request can be sent in parts. */
async function send(sending: Sending, body: Body): Promise<ImportResult>;
async function send(
  sending: Sending,
  body: Body,
  how: { isDivisible: boolean },
): Promise<ImportResult | 'too-slow'>;
async function send(
  { access, path, signal }: Sending,
  body: Body,
  { isDivisible }: { isDivisible: boolean } = { isDivisible: false },
): Promise<ImportResult | 'too-slow'> {
  const until = Date.now() + patienceMs;
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    const answer = await post(access, path, body, signal);
    const isLate = Date.now() > until;
    if (answer instanceof Error) {
      if (isLate) throw new StartError(`The gateway at ${access.url} does not answer.`, { cause: answer });
    } else {
      const { status, isOk, content } = answer;
      const result = importResult.safeParse(content);
      if (isOk && result.success) return result.data;
      if (status === statusOf('gateway/timeout') && isDivisible) return 'too-slow';
      const isPassing = status === 429 || status >= 500;
      if (!isPassing || isLate) throw new CallError(`POST ${path}`, status, content);
    }
    await wait(waitMs, undefined, { signal });
  }
}

interface Answer {
  status: number;
  isOk: boolean;
  /** The JSON of the body. */
  content: unknown;
}

/** Returns the error if there is no answer, or if the answer breaks off. Throws `RedirectError`. */
async function post(
  { url, token }: Pick<PlatformAccess, 'url' | 'token'>,
  path: string,
  { headers, body }: Body,
  signal: AbortSignal,
): Promise<Answer | Error> {
  const address = `${url}${path}`;
  try {
    const response = await fetch(address, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body,
      signal,
    });
    await refuseRedirect(response, address);
    const { status, ok: isOk } = response;
    return { status, isOk, content: jsonOf(await response.text()) };
  } catch (error) {
    if (error instanceof RedirectError) throw error;
    return error as Error;
  }
}
