import type { Logger } from 'pino';
import type { Notice } from './bus.ts';

/** Passes a notice to a listener. If the listener throws, logs the error, and neither the bus nor other listeners stop. */
export function hearSafely(hear: (notice: Notice) => void, notice: Notice, log: Logger): void {
  try {
    hear(notice);
  } catch (error) {
    log.error({ err: error, subject: notice.subject }, 'notice not taken');
  }
}
