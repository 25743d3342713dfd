import type { IncomingMessage } from 'node:http';
import type { OperationSpec, OutputOf } from '@kith/contracts';
import type { OperationRequest } from '../operations/handler.ts';
import type { StoredBytes } from './stored-bytes.ts';

/** A request whose body or answer is bytes. The body is not yet validated. */
export type HttpRequest<O extends OperationSpec> = Omit<
  OperationRequest<O>,
  'body' | 'setHeader' | 'linkNext' | 'deadline'
> & {
  incoming: IncomingMessage;
  /**
   * Validates the fields of a form, except its file. Throws an `ApiError` with the code that the contract has for a wrong
   * field.
   */
  fields(given: Record<string, unknown>): OperationRequest<O>['body'];
  /** How many MiB the project may store, if it has a limit. */
  storageMib: number | undefined;
  /** Aborted when the client has disconnected or the process has to end. */
  signal: AbortSignal;
};

/** The answer of a download. */
export interface BytesAnswer {
  status: 200 | 206 | 304;
  headers: Record<string, string>;
  /**
   * The bytes of the answer. They are read only as fast as the client receives them. Each chunk is read after the previous
   * chunk is written. Absent if the answer has no body.
   */
  body?: AsyncIterable<Uint8Array>;
  /** Set in place of `body`: says where the bytes are in the folder that the gateway has named (`folderHeader`). */
  stored?: StoredBytes;
}

/** An operation with its handler. A service receives or sends the bytes of this operation over HTTP. */
export interface HttpHandler<App, O extends OperationSpec = OperationSpec> {
  spec: O;
  handle(request: HttpRequest<OperationSpec>, app: App): Promise<unknown>;
}

/** Binds the handler of an upload to its contract entry. */
export function uploadHandler<O extends OperationSpec & { kind: 'upload' }, App>(
  spec: O,
  handle: (request: HttpRequest<O>, app: App) => Promise<OutputOf<O>>,
): HttpHandler<App, O> {
  return { spec, handle: handle as unknown as HttpHandler<App>['handle'] };
}

/** Binds the handler of a download to its contract entry. */
export function downloadHandler<O extends OperationSpec & { kind: 'download' }, App>(
  spec: O,
  handle: (request: HttpRequest<O>, app: App) => Promise<BytesAnswer>,
): HttpHandler<App, O> {
  return { spec, handle: handle as unknown as HttpHandler<App>['handle'] };
}
