import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { Secrets } from '@kith/base';
import type { OperationSpec } from '@kith/contracts';
import { type Caller, canonicalPath, operationHeader, type RequestContext, signContext } from '@kith/service';
import { filePart, multipart, type Part } from '../../../../tests/support/multipart.ts';
import type { Owner } from '../../src/file.ts';

/** The secrets by which the services of these suites recognise a gateway. */
export const secrets = new Secrets('the gateway of the suites of storage');

/** An answer with its whole body. If the body is not JSON, `json` is undefined. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts what it expects of this value
  json: any;
}

export interface BytesCall {
  /** The project of the address. Null for addresses below `/admin`. */
  projectId: string | null;
  /** The user who calls. By default, nobody is signed in. */
  userId?: string;
  params?: Record<string, string>;
  method?: string;
  headers?: Record<string, string>;
}

const boundary = 'the-boundary';
const multipartType = `multipart/form-data; boundary=${boundary}`;

/** The caller that a gateway makes from a user's token. */
export function callerOf(userId: string): Caller {
  return { userId, sessionId: userId, role: 'visitor' };
}

/** The context that a gateway sends with a request. */
export function contextOf({ projectId, userId, params = {} }: BytesCall): Partial<RequestContext> {
  return { requestId: 'test', projectId, caller: userId === undefined ? null : callerOf(userId), params };
}

/** Begins a request to a service, signed as the gateway does. */
export function signedRequest(url: string, spec: OperationSpec, call: BytesCall): ClientRequest {
  const { method = spec.kind === 'upload' ? 'POST' : 'GET', headers } = call;
  const context = contextOf(call);
  const path = canonicalPath(spec, { projectId: call.projectId, params: call.params ?? {} });
  const signed = { method, path, operation: spec.name };
  return request(`${url}${path}`, {
    method,
    agent: false,
    headers: { ...headers, ...signContext(secrets, signed, context), [operationHeader]: spec.name },
  });
}

/**
 * Waits for the answer to a request, with its whole body. If the connection is closed before the end of the answer, the result
 * is `undefined`.
 */
export async function answerTo(outgoing: ClientRequest): Promise<Answer | undefined> {
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.on('error', reject);
    });
    const { statusCode: status = 0, headers } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    const isJson = headers['content-type'] === 'application/json' && body.length > 0;
    return { status, headers, body, json: isJson ? JSON.parse(body.toString()) : undefined };
  } catch {
    return undefined;
  }
}

/** An upload that a test sends piece by piece. */
export class Upload {
  readonly answer: Promise<Answer | undefined>;
  readonly #outgoing: ClientRequest;
  readonly #tail: Buffer;

  /** Begins the form of a file. `parts` come before the file. */
  constructor(url: string, spec: OperationSpec, { projectId, userId }: Owner, parts: readonly Part[] = []) {
    const headers = { 'content-type': multipartType };
    this.#outgoing = signedRequest(url, spec, { projectId, userId, headers });
    this.answer = answerTo(this.#outgoing);
    const marker = 'the bytes of the file';
    const { body } = multipart([...parts, filePart(marker)], boundary);
    const at = body.indexOf(marker);
    this.#tail = body.subarray(at + marker.length);
    this.#outgoing.write(body.subarray(0, at));
  }

  /** Resolves as soon as the bytes have left this process. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#outgoing.write(bytes, () => resolve()));
  }

  /** Ends the form, and resolves with the answer. */
  finish(): Promise<Answer | undefined> {
    this.#outgoing.end(this.#tail);
    return this.answer;
  }

  /** Closes the connection before the form is complete. */
  leave(): void {
    this.#outgoing.destroy();
  }
}

/** Uploads a file at once, not piece by piece. */
export function upload(
  url: string,
  spec: OperationSpec,
  owner: Owner,
  bytes: Uint8Array,
  parts: readonly Part[] = [],
): Promise<Answer | undefined> {
  const one = new Upload(url, spec, owner, parts);
  void one.write(bytes);
  return one.finish();
}
