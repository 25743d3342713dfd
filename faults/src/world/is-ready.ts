/** Whether a process says on its page that it is ready; one that is silent for `patienceMs` is not. */
export async function isReady(readyUrl: string, patienceMs = 2_000): Promise<boolean> {
  const answer = await fetch(readyUrl, { signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  return answer?.ok ?? false;
}
