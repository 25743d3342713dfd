import { wholeNumber } from '@kith/base';
import { startProcess } from '@kith/service';
import { type Given, type Result, type Surroundings, textOf, UsageError } from '../command.ts';

const port = wholeNumber(0, 65_535);

/** Carries out `kith start`: runs the platform in this process. Resolves when the platform is up. */
export async function runStart(given: Given, surroundings: Surroundings): Promise<Result> {
  const around = { ...surroundings, env: { ...surroundings.env, ...portOf(given) } };
  let told: Result | undefined;
  await startProcess('kith', async () => {
    const { told: result, ...running } = given.options.distributed
      ? await (await import('./distributed.ts')).startOnEngines(around, {
          isPlain: given.options['plain-engines'] === true,
        })
      : await (await import('./embedded.ts')).startInProcess(around);
    told = result;
    return running;
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
