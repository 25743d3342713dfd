import { hostOfUrl, StartError } from '@kith/base';
import type { ErrorCode } from '@kith/contracts';

const patienceMs = 5_000;

/**
 * Rejects with `StartError` if another Kith already runs at an address. If another program uses the port, the start itself will
 * fail.
 */
export async function refuseTakenPort({ HOST, PORT }: { HOST: string; PORT: number }): Promise<void> {
  if (PORT === 0) return;
  const url = `http://${hostOfUrl(HOST)}:${PORT}`;
  if (!(await isKith(url))) return;
  throw new StartError(`Another Kith is up at ${url}; stop it, or set PORT to another port.`);
}

/**
 * Whether the address gives an answer that only Kith's API gives. The answer is the same for every value of API_REFERENCE.
 */
async function isKith(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/v7/x`, { signal: AbortSignal.timeout(patienceMs) });
    const { code } = (await answer.json()) as { code?: unknown };
    return code === ('project/invalid-id' satisfies ErrorCode);
  } catch {
    return false;
  }
}
