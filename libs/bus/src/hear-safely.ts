import type { Logger } from 'pino';
import type { Notice } from './bus.ts';

/** Passes a notice to a listener. If the listener throws, the error is logged. The bus and the other listeners go on. */
export function hearSafely(hear: (notice: Notice) => void, notice: Notice, log: Logger): void {
  try {
    hear(notice);
  } catch (error) {
    log.error({ err: error, subject: notice.subject }, 'a listener of a notice has failed');
  }
}
