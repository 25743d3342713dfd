import { wholeNumber } from '@kith/base';
import { startProcess } from '@kith/service';
import { type Given, type Result, type Surroundings, textOf, UsageError } from '../command.ts';

const port = wholeNumber(0, 65_535);

/** Carries out `kith start`: runs the platform in this process. Resolves when the platform is up. */
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
  // Starting engines may take minutes, so a signal ends that start immediately. The embedded form starts in seconds, so a
  // signal stops it in order afterwards.
  await startProcess('kith', start, { endsWhileStarting: distributed === true });
  return told!;
}

function portOf(given: Given): NodeJS.ProcessEnv {
  const PORT = textOf(given, 'port');
  if (PORT === undefined) return {};
  const parsed = port.safeParse(PORT);
  if (!parsed.success) throw new UsageError(`--port: ${parsed.error.issues[0]?.message}.`);
  return { PORT };
}
