import type { z } from 'zod';
import type { ErrorCode, Feature } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call. `operator`: an operator. `user`: a signed-in user. `server-key`: a project's own back end with its server key.
 * `optional`: anyone; a valid token is used. `none`: anyone; tokens are ignored.
 */
export type Auth = 'operator' | 'user' | 'server-key' | 'optional' | 'none';

/** The scopes that an operator key may have (spec#operator-keys-scopes). */
export const operatorScopes = [
  'projects:read',
  'projects:write',
  'users:read',
  'users:write',
  'keys:write',
  'audit:read',
] as const;
export type OperatorScope = (typeof operatorScopes)[number];

/** What a project may hide from callers who are not signed in. */
export type Visibility = 'profiles' | 'connections';

/** The number of requests per window, counted per project and client IP (spec#limits-count). */
export interface Limit {
  max: number;
  windowSeconds: number;
}

/** The rules for the file of an upload. */
export interface Upload {
  /** The name of the part with the bytes. */
  part: string;
  maxBytes: number;
  /**
   * Set if the file has to be the last part of the form. This is necessary if the other parts decide what the service does with
   * the bytes.
   */
  fileLast?: true;
  /** The media types that the bytes may have; if absent, any type. Kith reads the type from the bytes, not from the form. */
  types?: readonly string[];
  /** `missing` is the error code for a form without the file, and `tooLarge` for a file over `maxBytes`. */
  missing: ErrorCode;
  tooLarge: ErrorCode;
}

/**
 * The largest size of a form without the bytes of its file, in bytes. This size includes the headers of the parts, and the
 * other fields.
 */
export const maxFormBytes = 64 * 1024;

/** Everything that a caller may rely on about one operation of the HTTP API. */
export interface OperationSpec {
  /** The stable name, `<service>.<operation>`. The NATS subject and the name of the rate limit contain this name. */
  name: `${string}.${string}`;
  /** What the operation does, in a few words. The reference shows this text. */
  summary: string;
  feature: Feature;
  /**
   * How the operation answers. `request`, the default: one request, one answer. `stream`: the gateway keeps the answer open and
   * writes events as they come. `export`: the gateway makes one document from the data of several services (see `parts`).
   * `upload`: the body is bytes. `download`: the answer is bytes. These bytes go between client and service over HTTP, not over
   * the bus (docs/adr/0045).
   */
  kind?: 'request' | 'stream' | 'export' | 'upload' | 'download';
  /** The file of an upload, whose body is `multipart/form-data`. `body` describes the other parts; each of them is a text. */
  upload?: Upload;
  method: Method | readonly [Method, ...Method[]];
  /** The path, without the project's part; for the scope `none`, the whole path. `:name` is a parameter. */
  path: `/${string}`;
  scope: 'project' | 'none';
  auth: Auth;
  /** The scope that an operator key needs. An operators' operation without a scope needs `OPERATOR_TOKEN`. */
  operatorScope?: OperatorScope;
  /**
   * Whether an operator key that is limited to some projects may call the operation, although the path names no project. The
   * handler then answers only about the key's projects. Without this setting, an operation without a project in its path
   * refuses such keys (spec#operator-keys-projects).
   */
  narrowsToProjects?: true;
  /**
   * What a server key may do at this operation. `for-user`: it may act for a user. `itself`: it may also call the operation
   * without a user. The default depends on `auth`. For `server-key`, it is `itself`. For `user` and `optional`, it is
   * `for-user`; but under `/auth/` and at exports, it is `never`. For all other values of `auth`, it is `never`
   * (`serverKeyMay`, spec#server-keys-on-behalf).
   */
  serverKey?: ServerKeyUse;
  /**
   * The body of a call that a server key makes without a user. Set only if such a call may have more fields than a user's call
   * (spec#users-role-server-keys).
   */
  serverKeyBody?: z.ZodObject;
  /**
   * Null means no limit. At operators' operations, only requests that fail to authenticate are counted (spec#operators-limit).
   */
  limit: Limit | null;
  params: z.ZodObject;
  query: z.ZodObject;
  body: z.ZodType<Record<string, unknown>>;
  output: z.ZodType;
  /**
   * The parts of an export. `head` is the answer of the service that owns the operation. `sections` are the lists that follow in
   * the document, in this order.
   */
  parts?: { head: z.ZodObject; sections: Readonly<Record<string, ExportSection>> };
  status: 200 | 201 | 202 | 204;
  /** The codes that the handler may answer with. The codes of validation and `<feature>/server-error` are not listed. */
  errors: readonly ErrorCode[];
  /** The field in which older clients wrap the whole body (spec#existing-clients-update). */
  wrapped?: string;
  /**
   * The codes of validation failures. The keys say where the wrong input is, for example `body.name`, `params`, `body` or
   * `query`. If several keys match, the most specific key gives the code.
   */
  invalid?: Readonly<Record<string, ErrorCode>>;
  /**
   * Whether the operation also has an address with a version but without a project id. The project is then the project of the
   * token, or of the user in the path (spec#short-forms-project).
   */
  shortForm?: boolean;
  /**
   * The setting with which a project may restrict the operation to signed-in users. Used with `auth: 'optional'`
   * (spec#projects-public-profiles, spec#projects-public-connections).
   */
  visibility?: Visibility;
  /** The content type of an output that is a text, such as a page for browsers. If absent, the output is JSON. */
  contentType?: 'text/plain; charset=utf-8' | 'text/html; charset=utf-8';
  /**
   * Whether the operation also answers for a deleted project. All other operations refuse such a project
   * (spec#projects-deleting).
   */
  answersDeleted?: true;
  /**
   * Set for an operation that takes an Idempotency-Key without a token. Keys are then compared within the project, as if the
   * project were the caller. `userOf` returns the id of the user in the answer. The stored answer belongs to this user
   * (spec#idempotency-scope).
   */
  keyedByProject?: { userOf(output: unknown): string };
  /**
   * When the audit log records the operation. `always`: whenever the caller is known. `told`: when the handler asks for it.
   * Changes by an operator or a server key are recorded in any case (spec#audit-what).
   */
  audit?: 'always' | 'told';
  /** For testing only. In production, the operation exists only with ALLOW_TEST_TOKENS (spec#test-tokens-production). */
  testOnly?: boolean;
}

/**
 * An operation of one service that another service calls. The call goes over the bus, on `<prefix>.svc.<service>.<operation>`,
 * and never over HTTP.
 */
export interface InternalOperationSpec {
  name: `${string}.${string}`;
  feature: Feature;
  body: z.ZodType<Record<string, unknown>>;
  output: z.ZodType;
  errors: readonly ErrorCode[];
}

/**
 * A list of an export. Its service sends the list in pages. To get the next page, send `next` as `after`. `next` is null on the
 * last page.
 */
export interface ExportSection extends InternalOperationSpec {
  body: z.ZodType<{ projectId: string; userId: string; after: string | null; limit: number }>;
  output: z.ZodObject<{ items: z.ZodArray; next: z.ZodNullable<z.ZodString> }>;
}

export type ParamsOf<O extends OperationSpec> = z.output<O['params']>;
export type QueryOf<O extends OperationSpec> = z.output<O['query']>;
export type BodyOf<O extends { body: z.ZodType }> = z.output<O['body']>;
export type OutputOf<O extends { output: z.ZodType }> = z.output<O['output']>;
/** What a handler returns: the whole output, or the head of an export. */
export type AnswerOf<O extends OperationSpec> = O extends { parts: { head: infer Head extends z.ZodType } }
  ? z.output<Head>
  : OutputOf<O>;

/** What a server key may do at an operation. */
export type ServerKeyUse = 'itself' | 'for-user' | 'never';

/** What a server key may do at an operation that takes tokens of users or server keys (spec#server-keys-rights). */
export function serverKeyMay(spec: OperationSpec): ServerKeyUse {
  if (spec.serverKey) return spec.serverKey;
  if (spec.auth === 'server-key') return 'itself';
  const isOfUsers = spec.auth === 'user' || spec.auth === 'optional';
  return isOfUsers && !spec.path.startsWith('/auth/') && spec.kind !== 'export' ? 'for-user' : 'never';
}

/** Whether the bytes of an operation go over HTTP between the gateway and its service. */
export function isStreamed({ kind }: Pick<OperationSpec, 'kind'>): boolean {
  return kind === 'upload' || kind === 'download';
}

/** Declares an operation, keeping its literal types. */
export function operation<const O extends OperationSpec>(spec: O): O {
  return spec;
}

/** Declares an operation between services, keeping its literal types. */
export function internalOperation<const O extends InternalOperationSpec>(spec: O): O {
  return spec;
}

/** The methods that an operation answers to; PATCH and PUT may both call the same operation (spec#connections-accept). */
export function methodsOf(spec: OperationSpec): readonly Method[] {
  return typeof spec.method === 'string' ? [spec.method] : spec.method;
}

/** Whether an operation takes an Idempotency-Key, from a caller with a token or from a project (spec#idempotency-scope). */
export function takesKey(spec: OperationSpec): boolean {
  if (methodsOf(spec).includes('GET') || spec.kind === 'upload') return false;
  return ['user', 'optional', 'server-key'].includes(spec.auth) || spec.keyedByProject !== undefined;
}

/** The subject to which the gateway forwards requests of an operation. Only the gateway may publish there (docs/adr/0003). */
export function rpcSubject(prefix: string, spec: { name: string }): string {
  return `${prefix}.rpc.${spec.name}`;
}

/** The subject on which one service calls an operation of another service. */
export function internalSubject(prefix: string, spec: { name: string }): string {
  return `${prefix}.svc.${spec.name}`;
}
