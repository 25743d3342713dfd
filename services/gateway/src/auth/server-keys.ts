import { ApiError, apiKeyKindOf } from '@kith/base';
import type { Bus } from '@kith/bus';
import { actingUser, type OperationSpec, serverKeyMay, uuid } from '@kith/contracts';
import { ask, type ServerKeyCaller } from '@kith/service';
import { questionFailure } from '../forward/bus-failure.ts';
import type { Address } from '../routes/address.ts';
import { bearerForm } from './bearer.ts';
import type { ScopedCaller } from './caller.ts';
import type { KnownKeys } from './operators.ts';
import { unauthorized } from './unauthorized.ts';

/** What a server key says about its caller: the key itself, and the user that the key acts for. */
export interface ByServerKey {
  serverKey: ServerKeyCaller | undefined;
  caller: ScopedCaller | null;
}

/** The result for a request whose key is ignored. A key is ignored only if the operation needs no token. */
const nobody: ByServerKey = { serverKey: undefined, caller: null };

/**
 * Identifies the caller of a request that has a server key: the application's own back end, and the user for whom it acts
 * (spec#server-keys).
 */
export class ServerKeys {
  readonly #known: KnownKeys;
  readonly #bus: Bus;
  readonly #timeoutMs: number;

  constructor(options: { known: KnownKeys; bus: Bus; timeoutMs: number }) {
    this.#known = options.known;
    this.#bus = options.bus;
    this.#timeoutMs = options.timeoutMs;
  }

  /**
   * The text that was sent as a server key, whether or not such a key exists. Undefined if none was sent, or if the operation
   * takes no server key.
   */
  sent(authorization: string | undefined, { auth }: OperationSpec): string | undefined {
    if (auth === 'none' || auth === 'operator') return undefined;
    const token = bearerForm.exec(authorization ?? '')?.[1];
    return token !== undefined && apiKeyKindOf(token) === 'server' ? token : undefined;
  }

  /**
   * The id of a server key. Undefined if the gateway does not know the key yet, or if the key belongs to a project other than
   * the one in the address. The request is counted under this id, before the key is checked (spec#limits-server-keys). At the
   * addresses of other projects, the key is not accepted, so it must not raise the limit there.
   */
  idOf(token: string, named: string | null): string | undefined {
    const key = this.#known.keys.find(token)?.key;
    return key?.kind === 'server' && key.projectId === named ? key.id : undefined;
  }

  /**
   * Throws `auth/unauthorized` or `auth/forbidden`. While the keys or the user cannot be looked up, throws
   * `gateway/unavailable` or `gateway/timeout`.
   * @param asked.reused The user in `onBehalfOf`, if an earlier call for this request has found the user and identity need not be
   * asked again. The key is always checked.
   */
  async identify(
    token: string,
    address: Extract<Address, { kind: 'operation' }>,
    asked: {
      onBehalfOf: string | undefined;
      reused: ScopedCaller | undefined;
      requestId: string;
      traceparent: string | undefined;
    },
  ): Promise<ByServerKey> {
    const { operation, projectId, isShort } = address;
    const isOptional = operation.auth === 'optional';
    await this.#known.keys.loaded();
    const found = this.#known.keys.find(token);
    if (found?.key.kind !== 'server') {
      if (isOptional) return nobody;
      throw unauthorized('wrong-server-key');
    }
    this.#known.uses.note(found.hash);
    if (isShort || projectId === null || found.key.projectId !== projectId) {
      if (isOptional) return nobody;
      throw forbidden('This server key is for the addresses of its own project.');
    }
    const serverKey = { keyId: found.key.id };
    const may = serverKeyMay(operation);
    const { onBehalfOf } = asked;
    if (onBehalfOf === undefined) {
      if (may === 'itself') return { serverKey, caller: null };
      if (isOptional) return nobody;
      throw forbidden(
        may === 'never' ? never : 'Name the user that the server key acts for in On-Behalf-Of.',
      );
    }
    if (may === 'never' || operation.auth === 'server-key') throw forbidden(never);
    return { serverKey, caller: asked.reused ?? (await this.#userOf(projectId, onBehalfOf, asked)) };
  }

  async #userOf(
    projectId: string,
    onBehalfOf: string,
    { requestId, traceparent }: { requestId: string; traceparent: string | undefined },
  ): Promise<ScopedCaller> {
    const { data: userId } = uuid.safeParse(onBehalfOf);
    const context = { requestId, traceparent, deadline: Date.now() + this.#timeoutMs };
    const answer =
      userId === undefined
        ? { user: null }
        : await ask(this.#bus, actingUser, { projectId, userId }, context).catch((error: unknown) => {
            throw questionFailure(error);
          });
    if (userId === undefined || !answer.user) {
      throw forbidden('On-Behalf-Of must be the id of a user of this project who is not suspended.');
    }
    return { userId, sessionId: 'server-key', role: answer.user.role, projectId };
  }
}

const never = 'A server key cannot do this for a user.';

function forbidden(message: string): ApiError {
  return new ApiError('auth/forbidden', { message });
}
