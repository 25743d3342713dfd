/** The parts of `XMLHttpRequest` that this file uses. Node has no `XMLHttpRequest`. */
interface XhrRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, address: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: Blob): void;
  abort(): void;
}

declare const XMLHttpRequest: (new () => XhrRequest) | undefined;

/** Whether `XMLHttpRequest` exists. It exists in pages and their workers, but not in service workers. */
export function hasXhr(): boolean {
  return typeof XMLHttpRequest !== 'undefined';
}

/**
 * Sends a request like `fetch`, but by XMLHttpRequest. In a page, only XMLHttpRequest reports how much of a body has been sent.
 * @param onSent Gets the number of bytes of the body that have been sent.
 */
export function sendByXhr(
  address: string,
  { method, headers, body, signal }: RequestInit,
  onSent: (bytes: number) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new (XMLHttpRequest as new () => XhrRequest)();
    request.open(method as string, address);
    for (const [name, value] of Object.entries(headers as Record<string, string>)) {
      request.setRequestHeader(name, value);
    }
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => {
      const { status, responseText } = request;
      resolve(new Response(responseText || null, { status, headers: headersOf(request) }));
    };
    request.onerror = () => reject(new TypeError('The request failed.'));
    request.onabort = () => reject(signal?.reason);
    signal?.addEventListener('abort', () => request.abort());
    request.send(body as Blob);
  });
}

function headersOf(request: XhrRequest): Headers {
  const headers = new Headers();
  for (const line of request
    .getAllResponseHeaders()
    .trim()
    .split(/[\r\n]+/)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
