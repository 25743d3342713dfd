// The thread that `checkpoints.ts` starts: copies the log of a database into it while others write on.
import { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', (file: string) => {
  try {
    // Opened for this one copy: a connection that stayed open would keep the file from being closed for good by its owner.
    using db = new DatabaseSync(file, { timeout: 0 });
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // The owner copies the log itself when it tidies up, and tells of a disk that is full.
  }
  parentPort?.postMessage(file);
});
