// A process with an uncaught error. Its stop never ends.
import { runProcess } from '../../src/lifecycle/run-process.ts';

await runProcess(
  'hangs',
  async () => {
    // Keeps the process alive, as an open connection does.
    setInterval(() => undefined, 1_000);
    setTimeout(() => {
      throw new Error('unexpected');
    }, 0);
    return { stop: () => new Promise<void>(() => undefined) };
  },
  { stopMs: 100 },
);
