import type { Bus } from '@kith/bus';
import type { BodyOf, InternalOperationSpec, OutputOf } from '@kith/contracts';
import { ask } from '@kith/service';
import type { z } from 'zod';

interface PagedSpec extends InternalOperationSpec {
  body: z.ZodType<{ after: string | null }>;
  output: z.ZodType<{ next: string | null }>;
}

/** Long enough for a large page from a busy replica. If a replica is away, `ask` soon asks another one. */
const patienceMs = 5_000;

/**
 * After this many failures of one page, `askPages` gives up. It gives up after the first failure of the first page, because
 * then identity is probably away.
 */
const attempts = 3;

/**
 * Asks for all pages of a list, one after the other. Waits at most `timeoutMs` for each answer. If a later page fails, asks for
 * this page again. Otherwise a table of many pages might never be complete while identity is overloaded. Throws as `ask` does.
 */
export async function askPages<O extends PagedSpec>(
  bus: Bus,
  spec: O,
  { requestId, timeoutMs = patienceMs }: { requestId: string; timeoutMs?: number | undefined },
): Promise<OutputOf<O>[]> {
  const askPage = (after: string | null) =>
    ask(bus, spec, { after } as BodyOf<O>, { requestId, deadline: Date.now() + timeoutMs });
  const pages: OutputOf<O>[] = [];
  let after: string | null = null;
  let failures = 0;
  do {
    try {
      const page: OutputOf<O> = await askPage(after);
      pages.push(page);
      after = (page as { next: string | null }).next;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (after === null || failures === attempts) throw error;
    }
  } while (after !== null);
  return pages;
}
