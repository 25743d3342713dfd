import { randomUUID } from 'node:crypto';
import {
  type AuditRow,
  auditedUser,
  auditRecorded,
  type ErrorCode,
  type EventEnvelope,
  methodsOf,
  noProject,
  type OperationSpec,
} from '@kith/contracts';
import { makeEvent } from '../events/make-event.ts';
import type { RequestContext } from './context.ts';

/** What a handler knows about the actor, target and outcome of a request, in addition to the context. */
export interface Told {
  /**
   * Who acts, in the same form as in a row of the audit log. Without an actor, a request of an unknown caller leaves no row.
   */
  actor?: string;
  target?: string;
  outcome?: ErrorCode;
}

const minuteMs = 60_000;

/** What the audit log records of one request (spec#audit-what). */
export class Audit {
  readonly #spec: OperationSpec;
  readonly #context: RequestContext;
  /** The id of the row. It is made only when a row is needed, because most requests leave no row. */
  #id: string | undefined;
  readonly #at = new Date();
  #told: Told = {};
  /** Whether the request leaves a row, as far as is known so far. */
  #isWanted: boolean;

  constructor(spec: OperationSpec, context: RequestContext) {
    const { operator, serverKey } = context;
    this.#spec = spec;
    this.#context = context;
    const isRead = methodsOf(spec).includes('GET');
    this.#isWanted = spec.audit === 'always' || (!isRead && (operator ?? serverKey) !== undefined);
  }

  /** Whether the request may leave a row. */
  get isPossible(): boolean {
    return this.#isWanted || this.#spec.audit !== undefined;
  }

  /**
   * Whether the request leaves a row even if it changes nothing. This is so if an operator sent the request, or if the
   * request's operation is always recorded. Usually, the row's event is stored together with a change of the request. If there
   * is no such change, the event is stored alone.
   */
  get isOwed(): boolean {
    return this.#isWanted && (this.#context.operator !== undefined || this.#spec.audit === 'always');
  }

  /** Whether failures are recorded. */
  get hasFailures(): boolean {
    return this.#spec.audit === 'always' && this.#actor !== undefined;
  }

  /** Adds to what is known about the request. From now on, the request leaves a row. */
  tell(told: Told): void {
    this.#told = { ...this.#told, ...told };
    this.#isWanted = true;
  }

  /** Takes back everything that `tell` has added, so that the request leaves no row. */
  untell(): void {
    this.#told = {};
    this.#isWanted = false;
  }

  get #actor(): string | undefined {
    const { operator, serverKey, caller } = this.#context;
    if (this.#told.actor !== undefined) return this.#told.actor;
    if (operator) return operator.keyId === null ? 'operator' : `operator-key:${operator.keyId}`;
    if (serverKey) return `server-key:${serverKey.keyId}`;
    return caller ? `user:${caller.userId}` : undefined;
  }

  get #target(): string | null {
    const { serverKey, caller, params } = this.#context;
    if (this.#told.target !== undefined) return this.#told.target;
    // If a server key acts for a user, this user is the target, whatever else the request names.
    if (serverKey && caller) return `user:${caller.userId}`;
    const [name, value] = Object.entries(params).findLast(([name]) => name.endsWith('Id')) ?? [];
    if (name === undefined || value === undefined) return null;
    const target = `${name.slice(0, -'Id'.length)}:${value.toLowerCase()}`;
    // No recorded action of a user changes another user, even if the request names one. So the row has no target. The row is
    // only about the user who acted, and is erased with that user.
    return target.startsWith('user:') && this.#actor?.startsWith('user:') ? null : target;
  }

  /** The event that announces the row; `undefined` if the request leaves no row or has no known actor. */
  event(): EventEnvelope | undefined {
    const row = this.row();
    return row && eventOf(row);
  }

  row(): AuditRow | undefined {
    const actor = this.#actor;
    if (!this.#isWanted || actor === undefined) return undefined;
    const { params, clientIp, requestId } = this.#context;
    this.#id ??= randomUUID();
    return {
      id: this.#id,
      at: this.#at.toISOString(),
      actor,
      action: this.#spec.name,
      projectId: this.#context.projectId ?? params.projectId?.toLowerCase() ?? null,
      target: this.#target,
      ip: clientIp,
      requestId,
      outcome: this.#told.outcome ?? 'success',
      count: 1,
    };
  }

  /**
   * Returns the row of a failure, still without an id, and the key of this kind of failure. Failures of the same kind in one
   * minute have the same key (spec#audit-repeated).
   */
  failure(code: ErrorCode): { row: Omit<AuditRow, 'id'>; alike: string } | undefined {
    const made = this.row();
    if (!made) return undefined;
    const { id: _, ...row } = made;
    const minute = Math.floor(this.#at.getTime() / minuteMs) * minuteMs;
    const { projectId, actor, action, target, ip } = row;
    const alike = JSON.stringify([minute, projectId, actor, action, target, ip, code]);
    return { row: { ...row, at: new Date(minute).toISOString(), outcome: code }, alike };
  }
}

/** The event that announces a row. */
export function eventOf(row: AuditRow): EventEnvelope {
  const user = auditedUser(row);
  return makeEvent(auditRecorded, {
    projectId: row.projectId ?? noProject,
    actorId: row.actor.startsWith('user:') ? user : null,
    aggregate: { type: 'audit', id: `${user ?? 'none'}:${row.id}`, seq: 1 },
    data: row,
    occurredAt: new Date(row.at),
  });
}

/** The keys of all events of the audit log that are about a user, as a range. */
export function auditEventsOf({ projectId, userId }: { projectId: string; userId: string }) {
  // `;` is the character after `:`, so the range holds all keys that begin with the user's id and a colon.
  return { from: `${projectId}|audit|${userId}:`, to: `${projectId}|audit|${userId};` };
}
