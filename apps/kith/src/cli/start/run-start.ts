import { wholeNumber } from '@kith/base';
import { startProcess } from '@kith/service';
import { type Given, type Result, type Surroundings, textOf, UsageError } from '../command.ts';

const port = wholeNumber(0, 65_535);
/**
 * How long the distributed form may take to stop after it has drained, in ms. Its services may take 25 s and then its engines
 * 30 s, so this leaves 20 s more.
 */
const distributedStopMs = 75_000;

/**
 * Carries out `kith start`: runs the platform, or with `--distributed` starts its processes. Resolves when the platform is up.
 */
export async function runStart(given: Given, surroundings: Surroundings): Promise<Result> {
  const around = { ...surroundings, env: { ...surroundings.env, ...portOf(given) } };
  const { distributed, 'plain-engines': isPlain = false } = given.options;
  if (isPlain && !distributed) throw new UsageError('--plain-engines needs --distributed.');
  let told: Result | undefined;
  const start = async () => {
    const { told: result, ...running } = distributed
      ? await (await import('./distributed.ts')).startOnEngines(around, { isPlain: isPlain === true })
      : await (await import('./embedded.ts')).startInProcess(around);
    told = result;
    return running;
  };
  // The distributed form may take minutes to start its engines, so a signal ends the process immediately. The embedded form
  // starts in seconds, so after a signal the start is first completed, and then the platform is stopped cleanly.
  await startProcess('kith', start, {
    endsWhileStarting: distributed === true,
    stopMs: distributed ? distributedStopMs : undefined,
    env: around.env,
  });
  return told!;
}

function portOf(given: Given): NodeJS.ProcessEnv {
  const PORT = textOf(given, 'port');
  if (PORT === undefined) return {};
  const parsed = port.safeParse(PORT);
  if (!parsed.success) throw new UsageError(`--port: ${parsed.error.issues[0]?.message}.`);
  return { PORT };
}
