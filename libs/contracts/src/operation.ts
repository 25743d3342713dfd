import type { z } from 'zod';
import type { ErrorCode, Feature } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call: an operator, a signed-in user, a project's own back end by its server key, anyone (a valid token is used), anyone
 * (tokens are ignored).
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

/** What a project may keep from those who are not signed in. */
export type Visibility = 'profiles' | 'connections';

/** Requests a window, counted per project and client IP (spec#limits-count). `null` where it names no limit. */
export interface Limit {
  max: number;
  windowSeconds: number;
}

/** What an upload brings. */
export interface Upload {
  /** The name of the part with the bytes. */
  part: string;
  maxBytes: number;
  /** Media types that the bytes may have; any, where there are none. A type is read from the bytes, whatever the form says of it. */
  types?: readonly string[];
  /** The code for a form without the part, and for one with more bytes. */
  missing: ErrorCode;
  tooLarge: ErrorCode;
}

/** Most bytes that a form takes beside those of its file: heads of parts and other fields. */
export const maxFormBytes = 64 * 1024;

/** Everything a caller may rely on of one operation of the HTTP API. */
export interface OperationSpec {
  /** Stable name, `<service>.<operation>`; the NATS subject and the rate limit's name are made from it. */
  name: `${string}.${string}`;
  /** What it does, in a few words: its line in the reference. */
  summary: string;
  feature: Feature;
  /**
   * `stream`: the gateway holds the answer open and writes as things come. `export`: it makes one document of what
   * the services hold, by `parts`. `upload` and `download`: the body, or the answer, is bytes that are streamed between client
   * and service over HTTP, past the bus (docs/adr/0045). Else one request, one answer.
   */
  kind?: 'request' | 'stream' | 'export' | 'upload' | 'download';
  /** Of an upload, whose body is `multipart/form-data`; `body` has its other parts, each a text. */
  upload?: Upload;
  method: Method | readonly [Method, ...Method[]];
  /** Path below the project scope (or below the root, for scope `none`); `:name` is a parameter. */
  path: `/${string}`;
  scope: 'project' | 'none';
  auth: Auth;
  /** The scope that an operator key needs; where an operators' operation names none, only `OPERATOR_TOKEN` may call it. */
  operatorScope?: OperatorScope;
  /**
   * Of an operators' operation whose path names no project: a key that is limited to some projects may call it, and its handler
   * answers of these alone. Any other is refused to such a key (spec#operator-keys-projects).
   */
  narrowsToProjects?: true;
  /**
   * What a server key may do here. `for-user`: act for a user. `itself`: call without one, too. By default it acts for users at their
   * operations, except under `/auth/` and at exports (`serverKeyMay`, spec#server-keys-on-behalf).
   */
  serverKey?: ServerKeyUse;
  /** The body that a server key may send as itself, where it may send more than a user (spec#users-role-server-keys). */
  serverKeyBody?: z.ZodObject;
  /** Null is none. Of operators' operations only failures to identify are limited (spec#operators-limit). */
  limit: Limit | null;
  params: z.ZodObject;
  query: z.ZodObject;
  body: z.ZodType<Record<string, unknown>>;
  output: z.ZodType;
  /** Of an export: what its own service answers, and the lists that follow it in the document, in their order. */
  parts?: { head: z.ZodObject; sections: Readonly<Record<string, ExportSection>> };
  status: 200 | 201 | 202 | 204;
  /** Codes the handler may answer with, beside those of validation and `<feature>/server-error`. */
  errors: readonly ErrorCode[];
  /** A field that older clients put the whole body in (spec#existing-clients-update). */
  wrapped?: string;
  /** What a validation failure answers, by place (`body.name`, `params`, `body`, `query`); most exact wins. */
  invalid?: Readonly<Record<string, ErrorCode>>;
  /**
   * Reached without a project id, too, under a version: the token's project, or the asked user's
   * (spec#short-forms-project).
   */
  shortForm?: boolean;
  /**
   * The setting by which a project may keep it to its signed-in users; with `auth: 'optional'`
   * (spec#projects-public-profiles, spec#projects-public-connections).
   */
  visibility?: Visibility;
  /** What a text output is sent as, a page for browsers among it; JSON otherwise. */
  contentType?: 'text/plain; charset=utf-8' | 'text/html; charset=utf-8';
  /** Answers for a project that is deleted, too; every other operation is refused for it (spec#projects-deleting). */
  answersDeleted?: true;
  /** Takes an Idempotency-Key without a token; the project is the caller, and the answer tells whose the record is (spec#idempotency-scope). */
  keyedByProject?: { userOf(output: unknown): string };
  /**
   * Whether the audit log tells of it: always, once it is known who asks, or where its handler says so. It tells of every change by an
   * operator or a server key (spec#audit-what).
   */
  audit?: 'always' | 'told';
  /** For testing only: in production it is there only with ALLOW_TEST_TOKENS (spec#test-tokens-production). */
  testOnly?: boolean;
}

/** An operation one service asks of another, on `<prefix>.svc.<service>.<operation>`, never over HTTP. */
export interface InternalOperationSpec {
  name: `${string}.${string}`;
  feature: Feature;
  body: z.ZodType<Record<string, unknown>>;
  output: z.ZodType;
  errors: readonly ErrorCode[];
}

/** A list of an export, which its service gives page by page: `next`, until it is null, is the next one's `after`. */
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

/** The methods an operation answers to; PATCH and PUT may be the same one (spec#connections-accept). */
export function methodsOf(spec: OperationSpec): readonly Method[] {
  return typeof spec.method === 'string' ? [spec.method] : spec.method;
}

/** Whether an operation takes an Idempotency-Key, from a caller with a token or from a project (spec#idempotency-scope). */
export function takesKey(spec: OperationSpec): boolean {
  if (methodsOf(spec).includes('GET') || spec.kind === 'upload') return false;
  return ['user', 'optional', 'server-key'].includes(spec.auth) || spec.keyedByProject !== undefined;
}

/** The subject the gateway forwards an operation to. Only the gateway may publish there (docs/adr/0003). */
export function rpcSubject(prefix: string, spec: { name: string }): string {
  return `${prefix}.rpc.${spec.name}`;
}

/** The subject one service asks another on. */
export function internalSubject(prefix: string, spec: { name: string }): string {
  return `${prefix}.svc.${spec.name}`;
}
