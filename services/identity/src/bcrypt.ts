import { Worker } from 'node:worker_threads';

interface Question {
  resolve(isRight: boolean): void;
  reject(error: unknown): void;
}

/** The messages to the thread and from the thread. */
export interface BcryptQuestion {
  id: number;
  password: string;
  hash: string;
}
export interface BcryptAnswer {
  id: number;
  isRight: boolean;
}

let worker: Worker | undefined;
let count = 0;
const questions = new Map<number, Question>();

/**
 * Returns whether a password matches a bcrypt hash. Node has no bcrypt, and a JavaScript version on the event loop would hold
 * up every other request. So a separate thread computes the hash. The thread starts when the first password is to be compared.
 */
export function compareBcrypt(password: string, hash: string): Promise<boolean> {
  const thread = worker ?? startThread();
  const id = ++count;
  return new Promise<boolean>((resolve, reject) => {
    questions.set(id, { resolve, reject });
    thread.postMessage({ id, password, hash } satisfies BcryptQuestion);
  });
}

function startThread(): Worker {
  // The thread gets none of the flags of this process. Such flags may be meant for the entry point of the process.
  const thread = new Worker(new URL('./bcrypt-thread.ts', import.meta.url), { execArgv: [] });
  worker = thread;
  thread.on('message', ({ id, isRight }: BcryptAnswer) => {
    questions.get(id)?.resolve(isRight);
    questions.delete(id);
  });
  const ended = (error: unknown) => {
    if (worker === thread) worker = undefined;
    for (const question of questions.values()) question.reject(error);
    questions.clear();
  };
  thread.on('error', ended);
  thread.on('exit', () => ended(new Error('The thread of bcrypt has ended.')));
  // If a process has nothing else to do, the thread must not keep it alive.
  thread.unref();
  return thread;
}
