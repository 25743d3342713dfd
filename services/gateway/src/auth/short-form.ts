import { ApiError } from '@kith/base';
import type { Bus } from '@kith/bus';
import { projectOfUser, statusOf, uuid } from '@kith/contracts';
import { ask, validateQuery } from '@kith/service';
import { errors } from 'jose';
import { questionFailure } from '../forward/bus-failure.ts';
import type { Address } from '../routes/address.ts';
import type { ScopedCaller } from './caller.ts';

type OperationAddress = Extract<Address, { kind: 'operation' }>;

/** The project that a request goes to, and its caller. */
export interface Scope {
  projectId: string | null;
  caller: ScopedCaller | null;
}

/**
 * Finds the project of a request under a short form. A short form is an address that names no project. Usually, the project is
 * that of the token. For a read that needs no token, it is the project of the user in the address. For such a read, a token of
 * another project counts as no token (spec#short-forms-project).
 */
export async function scopeOf(
  bus: Bus,
  address: OperationAddress,
  caller: ScopedCaller | null,
  context: { requestId: string; deadline: number; traceparent?: string | undefined },
): Promise<Scope> {
  if (address.operation.auth === 'user') return { projectId: caller?.projectId ?? null, caller };
  const projectId = await projectOf(bus, address, context);
  return { projectId, caller: caller?.projectId === projectId ? caller : null };
}

/**
 * The project for which a request under a short form is counted. This is the project that the token claims, although the claim
 * is not verified yet. So requests under the short form and under the long form are counted together. Null if the claim is not
 * a UUID, or if the operation needs no token. The request is then counted under a fixed name in place of the project
 * (spec#limits-short-forms).
 */
export function claimedProject(
  { operation }: OperationAddress,
  authorization: string | undefined,
): string | null {
  if (operation.auth !== 'user') return null;
  try {
    const [, payload = ''] = (authorization ?? '').split('.', 3);
    const { projectId } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return uuid.safeParse(projectId).data ?? null;
  } catch {
    return null;
  }
}

/**
 * If a request under a v7 short form was refused because its token has expired, returns `auth/token-expired` instead of the
 * refusal's error. This code makes the clients of v7 refresh the token (spec#short-forms-expired). Returns any other error
 * unchanged.
 */
export function shortFormRefusal(address: OperationAddress, error: unknown): unknown {
  const isExpired =
    error instanceof ApiError &&
    statusOf(error.code) === 401 &&
    (error.cause as { code?: string } | undefined)?.code === errors.JWTExpired.code;
  return address.isShort && address.wireVersion === 'v7' && isExpired
    ? new ApiError('auth/token-expired', { cause: error })
    : error;
}

async function projectOf(
  bus: Bus,
  address: OperationAddress,
  context: { requestId: string; deadline: number; traceparent?: string | undefined },
): Promise<string> {
  const asked = projectOfUser.body.safeParse({ userId: address.params.userId });
  if (!asked.success) throw notFound(address);
  try {
    const { projectId } = await ask(bus, projectOfUser, asked.data, context);
    if (projectId) return projectId;
  } catch (error) {
    throw questionFailure(error);
  }
  throw notFound(address);
}

/**
 * The operation's error for a user who does not exist. A wrong query has its own error, which comes first
 * (spec#errors-check-order).
 */
function notFound({ operation, query }: OperationAddress): ApiError {
  validateQuery(operation, query);
  return new ApiError(operation.invalid?.params ?? 'route/not-found');
}
