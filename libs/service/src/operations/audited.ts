import { ApiError } from '@kith/base';
import type { AuditRow } from '@kith/contracts';
import { afterChange, apart, CarriedEvent, HeldChanges, type Outbox } from '@kith/store';
import type { Logger } from 'pino';
import type { Audit } from './audit.ts';

/** Where rows of the audit log are stored. */
export interface AuditLog {
  /** Stores a row, unless the row is already there. */
  add(row: AuditRow): Promise<void>;
  /** Counts a failure. Failures of the same kind share one row. */
  fail(row: Omit<AuditRow, 'id'>, alike: string): Promise<void>;
}

export interface AuditParts {
  /** The outbox of the service's store. A service without an outbox makes no changes. */
  outbox?: Outbox | undefined;
  /** The audit log, if this service keeps it. The row is then stored before the answer is sent. */
  auditLog?: AuditLog | undefined;
  log: () => Logger;
}

/**
 * Does the work of a request that the audit log may record. The row's event is stored with the first change, in one write
 * (docs/adr/0060). A failed request usually makes no change with which its row could be stored. So only the service that keeps
 * the audit log records failures. This service counts failures of the same kind in one row.
 */
export async function audited<T>(audit: Audit, parts: AuditParts, work: () => Promise<T>): Promise<T> {
  const { outbox, auditLog, log } = parts;
  if (!outbox || !audit.isPossible) return work();
  const carried = new CarriedEvent(outbox, () => audit.event());
  const show = async () => {
    const row = audit.row();
    // If this write fails, the event still brings the row later.
    if (row)
      await auditLog
        ?.add(row)
        .catch((error) =>
          log().warn({ err: error }, 'a row of the audit log is not written yet; its event brings it'),
        );
  };
  try {
    const result = await carried.run(work);
    const event = audit.isOwed && !carried.isStored ? audit.event() : undefined;
    if (event) await outbox.restate([event]);
    if (event || carried.isStored) await afterChange(show);
    return result;
  } catch (error) {
    // If the changes of the request were held, they were not stored, because the request failed.
    const isStored = carried.isStored && !HeldChanges.current();
    if (isStored) await show();
    const failed = error instanceof ApiError && audit.hasFailures ? audit.failure(error.code) : undefined;
    if (failed && auditLog) {
      await apart(() => auditLog.fail(failed.row, failed.alike)).catch((failure) =>
        log().warn({ err: failure }, 'a failure could not be written to the audit log'),
      );
    }
    throw error;
  }
}
