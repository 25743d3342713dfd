import { hostOfUrl, StartError } from '@kith/base';
import type { ErrorCode } from '@kith/contracts';

const patienceMs = 5_000;

/**
 * Rejects with `StartError` if another Kith is already up at an address. If any other program is there, the start itself finds out.
 */
export async function refuseTakenPort({ HOST, PORT }: { HOST: string; PORT: number }): Promise<void> {
  if (PORT === 0) return;
  const url = `http://${hostOfUrl(HOST)}:${PORT}`;
  if (!(await isKith(url))) return;
  throw new StartError(`Another Kith is up at ${url}; stop it, or set PORT to another port.`);
}

/** Whether the address answers as only this API does. The answer does not depend on how much of the reference is shown. */
async function isKith(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/v7/x`, { signal: AbortSignal.timeout(patienceMs) });
    const { code } = (await answer.json()) as { code?: unknown };
    return code === ('project/invalid-id' satisfies ErrorCode);
  } catch {
    return false;
  }
}
