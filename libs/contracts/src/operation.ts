import type { z } from 'zod';
import type { ErrorCode, Feature } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call: an operator, a signed-in user, a project's own back end with its server key, anyone (a valid token is used), or
 * anyone (tokens are ignored).
 */
export type Auth = 'operator' | 'user' | 'server-key' | 'optional' | 'none';

/** What an operator key may be allowed (spec#operator-keys-scopes). */
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

/** Requests per window, counted per project and client IP (spec#limits-count). */
export interface Limit {
  max: number;
  windowSeconds: number;
}

/** The rules for the file of an upload. */
export interface Upload {
  /** The name of the part with the bytes. */
  part: string;
  maxBytes: number;
  /** The media types that the bytes may have; without it, any type. The type is read from the bytes, not from the form. */
  types?: readonly string[];
  /** The codes for a form without the part, and for a file that is too large. */
  missing: ErrorCode;
  tooLarge: ErrorCode;
}

/** The largest size of a form without the bytes of its file: heads of parts and other fields. */
export const maxFormBytes = 64 * 1024;

/** Everything that a caller may rely on about one operation of the HTTP API. */
export interface OperationSpec {
  /** Stable name, `<service>.<operation>`; the NATS subject and the rate limit's name are made from it. */
  name: `${string}.${string}`;
  /** What the operation does, in a few words: its line in the reference. */
  summary: string;
  feature: Feature;
  /**
   * `stream`: the gateway keeps the answer open and writes events as they come. `export`: the gateway makes one document of what
   * the services hold, as `parts` says. `upload` and `download`: the body or the answer is bytes that are streamed between client
   * and service over HTTP, past the bus (docs/adr/0045). By default: one request, one answer.
   */
  kind?: 'request' | 'stream' | 'export' | 'upload' | 'download';
  /** For an upload, whose body is `multipart/form-data`: its file. `body` has the other parts, each a text. */
  upload?: Upload;
  method: Method | readonly [Method, ...Method[]];
  /** Path below the project scope (or below the root, for scope `none`); `:name` is a parameter. */
  path: `/${string}`;
  scope: 'project' | 'none';
  auth: Auth;
  /** The scope that an operator key needs. An operators' operation without one may only be called with `OPERATOR_TOKEN`. */
  operatorScope?: OperatorScope;
  /**
   * For an operators' operation whose path names no project: a key that is limited to some projects may call it, and its handler
   * answers only about these. Without it, such a key is refused (spec#operator-keys-projects).
   */
  narrowsToProjects?: true;
  /**
   * What a server key may do here. `for-user`: act for a user. `itself`: also call without a user. By default it may act for users
   * at users' operations, except under `/auth/` and at exports (`serverKeyMay`, spec#server-keys-on-behalf).
   */
  serverKey?: ServerKeyUse;
  /** The body that a server key may send as itself, if it may send more than a user (spec#users-role-server-keys). */
  serverKeyBody?: z.ZodObject;
  /** Null is no limit. At operators' operations, only requests that fail to authenticate count (spec#operators-limit). */
  limit: Limit | null;
  params: z.ZodObject;
  query: z.ZodObject;
  body: z.ZodType<Record<string, unknown>>;
  output: z.ZodType;
  /** For an export: the answer of its own service, and the lists that follow it in the document, in their order. */
  parts?: { head: z.ZodObject; sections: Readonly<Record<string, ExportSection>> };
  status: 200 | 201 | 202 | 204;
  /** Codes that the handler may answer with, besides those of validation and `<feature>/server-error`. */
  errors: readonly ErrorCode[];
  /** The field in which older clients wrap the whole body (spec#existing-clients-update). */
  wrapped?: string;
  /** The codes of validation failures, by place (`body.name`, `params`, `body`, `query`); the most exact place wins. */
  invalid?: Readonly<Record<string, ErrorCode>>;
  /**
   * Whether it also has an address with a version but without a project id: the project is then the token's, or that of the user
   * in the path (spec#short-forms-project).
   */
  shortForm?: boolean;
  /**
   * The setting by which a project may restrict it to signed-in users; used with `auth: 'optional'`
   * (spec#projects-public-profiles, spec#projects-public-connections).
   */
  visibility?: Visibility;
  /** The content type of an output that is a text, such as a page for browsers. Without it, the output is JSON. */
  contentType?: 'text/plain; charset=utf-8' | 'text/html; charset=utf-8';
  /** Whether it also answers for a deleted project. All other operations are refused for such a project (spec#projects-deleting). */
  answersDeleted?: true;
  /**
   * For an operation that takes an Idempotency-Key without a token. The project counts as the caller, and `userOf` finds in the
   * answer the user whom the record belongs to (spec#idempotency-scope).
   */
  keyedByProject?: { userOf(output: unknown): string };
  /**
   * When the audit log records it: `always` (once the caller is known), or `told` (when its handler says so). Every change by an
   * operator or a server key is recorded anyway (spec#audit-what).
   */
  audit?: 'always' | 'told';
  /** For testing only: in production it exists only with ALLOW_TEST_TOKENS (spec#test-tokens-production). */
  testOnly?: boolean;
}

/** An operation that one service asks of another, on `<prefix>.svc.<service>.<operation>`, never over HTTP. */
export interface InternalOperationSpec {
  name: `${string}.${string}`;
  feature: Feature;
  body: z.ZodType<Record<string, unknown>>;
  output: z.ZodType;
  errors: readonly ErrorCode[];
}

/** A list of an export. Its service sends it in pages: `next` is the `after` of the next page, and null on the last one. */
export interface ExportSection extends InternalOperationSpec {
  body: z.ZodType<{ projectId: string; userId: string; after: string | null; limit: number }>;
  output: z.ZodObject<{ items: z.ZodArray; next: z.ZodNullable<z.ZodString> }>;
}

export type ParamsOf<O extends OperationSpec> = z.output<O['params']>;
export type QueryOf<O extends OperationSpec> = z.output<O['query']>;
export type BodyOf<O extends { body: z.ZodType }> = z.output<O['body']>;
export type OutputOf<O extends { output: z.ZodType }> = z.output<O['output']>;
/** What a handler answers: the whole output, or the head of an export. */
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

/** The subject to which the gateway forwards an operation. Only the gateway may publish there (docs/adr/0003). */
export function rpcSubject(prefix: string, spec: { name: string }): string {
  return `${prefix}.rpc.${spec.name}`;
}

/** The subject on which one service asks another. */
export function internalSubject(prefix: string, spec: { name: string }): string {
  return `${prefix}.svc.${spec.name}`;
}
