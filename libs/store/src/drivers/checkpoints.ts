import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/**
 * A log is copied when it becomes longer than this, in bytes. A page that has changed several times by then is copied only one
 * time.
 */
const longLog = 32 * 1024 * 1024;
/** How long the thread stays alive without work, in ms. */
const idleMs = 5_000;

let thread: { worker: Worker; end: NodeJS.Timeout } | undefined;
const underWay = new Set<string>();

/**
 * Makes a thread copy the log of a database file into the database, if the log is long. To copy the log, as many bytes have to
 * be written and synced as for the changes themselves. So a thread does this work, and no request has to wait for it.
 */
export function checkpointSoon(file: string): void {
  if (underWay.has(file) || (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) < longLog) return;
  try {
    thread ??= startThread();
    thread.worker.postMessage(file);
    underWay.add(file);
  } catch {
    // If no thread can be started, the owner of the database copies the log later (`tidy`).
  }
}

function startThread(): NonNullable<typeof thread> {
  // Does not pass the flags of this process to the thread, because the flags may be meant only for the entry point of the
  // process.
  const worker = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { execArgv: [] });
  const started = { worker, end: setTimeout(() => void worker.terminate(), idleMs).unref() };
  const ended = () => {
    clearTimeout(started.end);
    if (thread === started) thread = undefined;
    underWay.clear();
  };
  worker.on('message', (file: string) => {
    underWay.delete(file);
    started.end.refresh();
  });
  // If the thread dies, the log is not lost: the owner of the database copies the log later (`tidy`).
  worker.on('error', ended);
  worker.on('exit', ended);
  worker.unref();
  return started;
}
