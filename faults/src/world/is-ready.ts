/**
 * Whether a process reports that it is ready, at the address of its `/readyz`. A process that does not answer for `patienceMs`
 * is not ready.
 */
export async function isReady(readyUrl: string, patienceMs = 2_000): Promise<boolean> {
  const answer = await fetch(readyUrl, { signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  return answer?.ok ?? false;
}
