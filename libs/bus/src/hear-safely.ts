import type { Logger } from 'pino';
import type { Notice } from './bus.ts';

/** Passes a notice to a listener. Logs the error if the listener throws, so that the bus and the other listeners continue. */
export function hearSafely(hear: (notice: Notice) => void, notice: Notice, log: Logger): void {
  try {
    hear(notice);
  } catch (error) {
    log.error({ err: error, subject: notice.subject }, 'a listener of a notice has failed');
  }
}
