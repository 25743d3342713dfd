import type {
  AnswerOf,
  BodyOf,
  InternalOperationSpec,
  OperationSpec,
  OutputOf,
  ParamsOf,
  QueryOf,
} from '@kith/contracts';
import type { Logger } from 'pino';
import type { Audit } from './audit.ts';
import type { Caller, RequestContext } from './context.ts';

/**
 * The type of a request's caller. If a server key may call the operation as itself, a request may have no caller
 * (spec#server-keys-rights).
 */
type CallerFor<O extends OperationSpec> = O['auth'] extends 'user'
  ? O['serverKey'] extends 'itself'
    ? Caller | null
    : Caller
  : Caller | null;
type ProjectFor<O extends OperationSpec> = O['scope'] extends 'project' ? string : null;

/** A validated request, typed by its contract. */
export interface OperationRequest<O extends OperationSpec>
  extends Omit<RequestContext, 'params' | 'query' | 'caller' | 'projectId'> {
  params: ParamsOf<O>;
  query: QueryOf<O>;
  body: BodyOf<O>;
  caller: CallerFor<O>;
  projectId: ProjectFor<O>;
  log: Logger;
  /** Sets what the audit log records about the request. */
  audit: Pick<Audit, 'tell' | 'untell'>;
  /** Sets a header of the HTTP answer. */
  setHeader(name: string, value: string): void;
  /** Sets `Link` to the next page. The cursor replaces the request's cursor; the other parameters stay (spec#lists-link). */
  linkNext(cursor: string): void;
}

/** An operation with its handler, as a service registers it. */
export interface OperationHandler<App, O extends OperationSpec = OperationSpec> {
  spec: O;
  handle(request: OperationRequest<OperationSpec>, app: App): Promise<unknown>;
  /** The operations with which this operation shares its places (docs/adr/0036). */
  places: Places;
  /**
   * Looks at a kept answer before it is replayed. Returns the same value to leave the answer as it is, or another value in its
   * place (docs/adr/0046).
   */
  replayed?(output: unknown, app: App): Promise<unknown>;
}

/**
 * `shared`: the operation shares places with all operations of its service. `own`: the operation shares places with no other
 * operation. Use `own` for operations that wait for a hashing thread, for example to check a password. There are only a few
 * such threads. So in shared places, these operations would block the operations that need nothing but the store. `none`: the
 * operation needs no place, because it is always answered from memory.
 */
export type Places = 'shared' | 'own' | 'none';

/** An internal operation with its handler. */
export interface InternalHandler<App> {
  spec: InternalOperationSpec;
  handle(body: never, app: App, context: InternalContext): Promise<unknown>;
}

/**
 * What a service passes along when it calls another service. If that service calls a third service, it passes the same values
 * along.
 */
export type InternalContext = Pick<RequestContext, 'requestId' | 'deadline'> &
  Partial<Pick<RequestContext, 'traceparent'>>;

/** Binds a handler to its contract entry. The types of input and output come from this entry. */
export function handler<O extends OperationSpec, App>(
  spec: O,
  handle: (request: OperationRequest<O>, app: App) => Promise<AnswerOf<O>>,
  {
    places = 'shared',
    replayed,
  }: { places?: Places; replayed?: (output: OutputOf<O>, app: App) => Promise<OutputOf<O>> } = {},
): OperationHandler<App, O> {
  return {
    spec,
    handle: handle as unknown as OperationHandler<App>['handle'],
    places,
    ...(replayed && { replayed: replayed as unknown as NonNullable<OperationHandler<App>['replayed']> }),
  };
}

/** Binds a handler to an internal contract entry. */
export function internalHandler<O extends InternalOperationSpec, App>(
  spec: O,
  handle: (body: BodyOf<O>, app: App, context: InternalContext) => Promise<OutputOf<O>>,
): InternalHandler<App> {
  return { spec, handle };
}
