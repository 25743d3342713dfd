// `checkpoints.ts` starts this thread. It copies the write-ahead log of a database into that database while other threads and
// processes continue to write.
import { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', (file: string) => {
  try {
    // Opens the file only for this copy. If the connection stayed open, the owner could not close the file completely.
    using db = new DatabaseSync(file, { timeout: 0 });
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // A failure is ignored, because the owner of the file copies the log later anyway (`tidy`). If the disk is full, the
    // owner's next write fails and reports this.
  }
  parentPort?.postMessage(file);
});
