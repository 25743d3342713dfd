import { StartError } from '@kith/base';

const patienceMs = 5_000;

/**
 * Rejects with `StartError` when another Kith is up at an address already. That any other program is there, the start
 * itself finds out.
 */
export async function refuseTakenPort({ HOST, PORT }: { HOST: string; PORT: number }): Promise<void> {
  if (PORT === 0) return;
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[HOST] ?? HOST;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
  if (!(await isKith(url))) return;
  throw new StartError(`Another Kith is up at ${url}; stop it, or set PORT to another port.`);
}

/** Whether the page of this API's reference is served there. */
async function isKith(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/docs`, { signal: AbortSignal.timeout(patienceMs) });
    return (await answer.text()).includes('<title>Kith API reference</title>');
  } catch {
    return false;
  }
}
