import { takeAddress } from './build-request.ts';
import { authorized, type CallSettings } from './call.ts';
import { isKithError } from './errors.ts';
import { exchange, type Transport, within } from './exchange.ts';
import type { Input, Operation } from './operation.ts';
import { randomName } from './random-name.ts';
import { giveUp, withRetries } from './retry.ts';
import { hasXhr, sendByXhr } from './send-by-xhr.ts';
import type { UploadOptions } from './upload-options.ts';

const defaultMs = 60_000;
/**
 * The time limit of the whole upload if its progress cannot be seen, in ms. It is as long as the platform lets an upload take.
 */
const unseenMs = 600_000;
const pieceBytes = 64 * 1024;

/** A form around the bytes of a file (RFC 7578). */
interface Form {
  contentType: string;
  head: Uint8Array<ArrayBuffer>;
  tail: Uint8Array<ArrayBuffer>;
}

/**
 * Sends a file. An upload has no `Idempotency-Key`. So the file is sent again only if the answer means that the platform took
 * nothing of the file. After a 401, the file is sent again with another token. After a 429, the file is sent again when the wait
 * is over.
 */
export async function upload(
  settings: CallSettings,
  operation: Operation,
  input: Input = {},
  { signal, timeoutMs, onProgress }: UploadOptions = {},
): Promise<unknown> {
  const { [operation.upload as string]: given, name, ...fields } = input;
  // In Node, `fetch` can stream a body. In a page, `fetch` can do so only over HTTP/2, and not in all browsers.
  const isPage = hasXhr() || 'ServiceWorkerGlobalScope' in globalThis;
  const source = await sourceOf(given, isPage, { signal, timeoutMs: timeoutMs ?? defaultMs });
  const total = 'size' in source ? source.size : undefined;
  const address = takeAddress(settings, operation, fields);
  const form = formOf(operation, { name: name ?? (source as Partial<File>).name, fields });
  const request = {
    ...{ method: operation.method, address, body: undefined },
    headers: { 'content-type': form.contentType },
  };
  const isSeen = !isPage || (!settings.hasOwnFetch && hasXhr());
  const transport: Transport = (address, init, alive) => {
    const tell = (loaded: number) => {
      alive();
      onProgress?.({ loaded, total });
    };
    if (!isPage) {
      const { body, headers, release } = streamOf(source, form, tell);
      const all = { ...(init.headers as Record<string, string>), ...headers };
      const streamed = { ...init, headers: all, body, duplex: 'half' } as RequestInit;
      return settings.fetch(address, streamed, alive).finally(release);
    }
    const body = new Blob([form.head, source as Blob, form.tail]);
    if (!isSeen) return settings.fetch(address, { ...init, body }, alive);
    const inFile = (sent: number) => Math.min(Math.max(sent - form.head.length, 0), total as number);
    return sendByXhr(address, { ...init, body }, (sent) => tell(inFile(sent)));
  };
  let refusal: unknown;
  const send = async (token: string | undefined) => {
    // A stream that has been read cannot be sent again.
    if (refusal && total === undefined) throw refusal;
    try {
      return await exchange(request, {
        fetch: transport,
        token,
        signal,
        timeoutMs: timeoutMs ?? (isSeen ? defaultMs : unseenMs),
      });
    } catch (error) {
      refusal = isKithError(error, 'rate-limit/exceeded') && total !== undefined ? error : giveUp(error);
      throw refusal;
    }
  };
  const { retries } = settings;
  const attempt = authorized(settings, operation.auth, signal, send);
  const { body } = await withRetries(attempt, { isSafe: () => false, retries, signal });
  return body;
}

async function sourceOf(
  given: unknown,
  isPage: boolean,
  limits: Parameters<typeof within>[0],
): Promise<Blob | ReadableStream<Uint8Array>> {
  if (given instanceof ReadableStream) return isPage ? readWhole(given, limits) : given;
  if (given instanceof Uint8Array) return new Blob([given as Uint8Array<ArrayBuffer>]);
  if (given instanceof Blob) return given;
  throw new TypeError('The file must be a Blob, a Uint8Array or a ReadableStream.');
}

/** Reads a whole stream into memory. The time limit starts again with each chunk. Rejects as `exchange` does. */
function readWhole(stream: ReadableStream<Uint8Array>, limits: Parameters<typeof within>[0]): Promise<Blob> {
  return within(limits, (signal, alive) => {
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        alive();
        controller.enqueue(chunk);
      },
    });
    return new Response(stream.pipeThrough(watched, { signal })).blob();
  });
}

function formOf(
  { upload: part }: Operation,
  { name, fields }: { name: unknown; fields: Record<string, unknown> },
): Form {
  const boundary = randomName();
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      return `--${boundary}\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${text}\r\n`;
    });
  // A quote in the name is escaped as in browsers (WHATWG HTML, multipart/form-data).
  const filename = sendable(String(name ?? 'file')).replaceAll('"', '%22');
  const file = `Content-Disposition: form-data; name="${part}"; filename="${filename}"`;
  const type = 'Content-Type: application/octet-stream';
  const encoder = new TextEncoder();
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: encoder.encode(`${parts.join('')}--${boundary}\r\n${file}\r\n${type}\r\n\r\n`),
    tail: encoder.encode(`\r\n--${boundary}--\r\n`),
  };
}

/**
 * The part of a name that a form can carry and that the platform stores. This is the last part of a path, without control
 * characters. The platform refuses a form with a control character in it, or with a backslash before the closing quote. An
 * empty name would mean that there is no file.
 */
function sendable(name: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  return last.replaceAll(/\p{Cc}/gu, '') || 'file';
}

/**
 * A form as a stream that is read piece by piece while it is sent. If the size of the source is known, `headers` contains the
 * length of the form.
 */
function streamOf(
  source: Blob | ReadableStream<Uint8Array>,
  { head, tail }: Form,
  tell: (loaded: number) => void,
): { body: ReadableStream<Uint8Array>; headers: Record<string, string>; release(): void } {
  const isBlob = 'size' in source;
  const reader = (isBlob ? source.stream() : source).getReader();
  let loaded = 0;
  let isReleased = false;
  // The bytes of the last chunk that are not sent yet. A file in memory comes as one chunk. If the whole chunk were sent at
  // once, there would be only one step of progress.
  let rest = new Uint8Array() as Uint8Array;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head),
    async pull(controller) {
      while (rest.length === 0) {
        const { done, value } = await reader.read();
        if (done) {
          // After `release`, the end of the form is not sent, so the platform refuses the form. If the end were sent, the
          // platform would store a part of the file as if it were the whole file.
          if (!isReleased) controller.enqueue(tail);
          // For an empty file, this is the only report.
          if (loaded === 0 && !isReleased) tell(0);
          return controller.close();
        }
        rest = value;
      }
      const piece = rest.subarray(0, pieceBytes);
      rest = rest.subarray(piece.length);
      controller.enqueue(piece);
      loaded += piece.length;
      tell(loaded);
    },
  });
  return {
    body,
    headers: isBlob ? { 'content-length': String(head.length + source.size + tail.length) } : {},
    // `release` is needed in two cases. After a failure, Node stops reading the body, but does not cancel it. If the answer
    // comes early, Node goes on reading the body.
    release() {
      isReleased = true;
      rest = rest.subarray(rest.length);
      reader.cancel().catch(() => {});
    },
  };
}
