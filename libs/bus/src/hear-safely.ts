import type { Logger } from 'pino';
import type { Notice } from './bus.ts';

/** Hands a notice on; a throw is logged, and stops neither the bus nor other listeners. */
export function hearSafely(hear: (notice: Notice) => void, notice: Notice, log: Logger): void {
  try {
    hear(notice);
  } catch (error) {
    log.error({ err: error, subject: notice.subject }, 'notice not taken');
  }
}
