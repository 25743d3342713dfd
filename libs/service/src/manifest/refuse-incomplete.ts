import { methodsOf, type OperationSpec, serverKeyMay, takesKey } from '@kith/contracts';
import type { Outbox, Replies } from '@kith/store';
import type { BusUses } from './bus-uses.ts';

type Specs = Readonly<Record<string, { readonly spec: OperationSpec }>>;
type Served = Pick<BusUses, 'name' | 'emits'> & { readonly operations: Specs; readonly streams?: Specs };

/**
 * Refuses a service that has a store but lacks a part that its operations need. These parts are the store for the answers to
 * requests with an idempotency key, and the right to publish events of the audit log. Without this check, nobody would notice
 * that a part is missing. Throws an `Error` that says what is missing.
 */
export function refuseIncomplete(
  { name, operations, streams, emits = [] }: Served,
  { outbox, replies }: { outbox?: Outbox | undefined; replies?: Replies | undefined },
): void {
  if (!outbox) return;
  const specs = Object.values({ ...operations, ...streams }).map(({ spec }) => spec);
  const keyed = specs.find(takesKey);
  if (keyed && !replies) {
    throw new Error(
      `${keyed.name} takes an Idempotency-Key, and ${name} keeps no answers: declare replyCollection and give startService the replies of its store (docs/adr/0046-idempotency-keys.md).`,
    );
  }
  const audited = specs.find(mayBeAudited);
  if (audited && !emits.includes('audit')) {
    throw new Error(
      `The audit log records ${audited.name}, but ${name} is not allowed to emit events of the audit log: add audit to emits in its manifest (docs/adr/0060-the-audit-log.md).`,
    );
  }
}

/** Whether requests of this operation may leave a row in the audit log, at least for some callers (spec#audit-what). */
function mayBeAudited(spec: OperationSpec): boolean {
  if (spec.audit !== undefined) return true;
  if (methodsOf(spec).includes('GET')) return false;
  return spec.auth === 'operator' || serverKeyMay(spec) !== 'never';
}
