import { type ErrorCode, isErrorCode, methodsOf, type OperationSpec } from '@kith/contracts';
import type { z } from 'zod';

/**
 * Every outcome that an operation's contract promises: the status for each method, the operation's codes, and the codes of its
 * auth class. Each field of the body and of the query that can be refused is an outcome of its own (`code field`). Outcomes
 * that all operations of an auth class or a feature share are in `parts`.
 */
export function outcomesOf(spec: OperationSpec): string[] {
  const path = spec.invalid?.params;
  return [
    ...methodsOf(spec).map((method) => `${spec.status} ${method}`),
    ...authCodesOf(spec),
    // Other suites check what happens when a service behind the operation is unavailable.
    ...spec.errors.filter((code) => !code.endsWith('/server-error')),
    ...(path ? [path] : []),
    ...fieldsOf(spec.body).map((field) => `${codeOf(spec, 'body', field)} ${field}`),
    ...fieldsOf(spec.query).map((field) => `${codeOf(spec, 'query', field)} ${field}`),
  ];
}

/**
 * Codes of the layers in front of an operation. Every operation may answer with these codes, even if its contract lists none.
 */
const layers = /^(request|route|rate-limit|gateway)\//;

/**
 * Whether an operation may answer with a code: the code is in the operation's contract, or belongs to a layer in front of the
 * operation.
 */
export function mayAnswer(spec: OperationSpec, code: ErrorCode): boolean {
  if (layers.test(code) || code === `${spec.feature}/server-error` || spec.errors.includes(code)) return true;
  if (code === 'project/invalid-id') return spec.scope === 'project';
  if (spec.auth === 'user' && code === 'auth/suspended') return true;
  // A request gets this code if it has an `On-Behalf-Of` header and its caller is not allowed to send this header.
  if (spec.auth === 'optional' && code === 'auth/forbidden') return true;
  if (spec.shortForm && code === 'auth/token-expired') return true;
  return outcomesOf(spec).some((outcome) => outcome.split(' ', 1)[0] === code);
}

/** The fields of an object schema. */
export function fieldsOf(schema: z.ZodType): string[] {
  return Object.keys((schema as z.ZodObject).shape ?? {});
}

function codeOf(spec: OperationSpec, place: 'body' | 'query', field: string): ErrorCode {
  const code =
    spec.invalid?.[`${place}.${field}`] ?? spec.invalid?.[place] ?? `${spec.feature}/invalid-${place}`;
  if (!isErrorCode(code)) throw new Error(`${spec.name} refuses ${field} with ${code}, which is no code.`);
  return code;
}

function authCodesOf({ auth, scope, visibility }: OperationSpec): ErrorCode[] {
  if (auth === 'operator') return ['auth/unauthorized', 'auth/forbidden'];
  // If a token is optional for an operation, a project may still restrict the operation to the project's own users (docs/adr/0013).
  if (auth !== 'user' && auth !== 'server-key' && !visibility) return [];
  return scope === 'project' ? ['auth/unauthorized', 'auth/forbidden'] : ['auth/unauthorized'];
}
