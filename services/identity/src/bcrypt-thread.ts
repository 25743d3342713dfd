// The thread that `bcrypt.ts` starts.
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { BcryptAnswer, BcryptQuestion } from './bcrypt.ts';

parentPort?.on('message', ({ id, password, hash }: BcryptQuestion) => {
  // Some versions of PHP and Ruby write `$2y$`, which means the same as `$2b$`. bcryptjs gets all such hashes as `$2b$`.
  const isRight = compareSync(password, hash.replace(/^\$2y\$/, '$2b$'));
  parentPort?.postMessage({ id, isRight } satisfies BcryptAnswer);
});
