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

/** Asks for all pages of a list, one after the other. Waits at most `timeoutMs` for each page. Throws as `ask` does. */
export async function askPages<O extends PagedSpec>(
  bus: Bus,
  spec: O,
  { requestId, timeoutMs = patienceMs }: { requestId: string; timeoutMs?: number | undefined },
): Promise<OutputOf<O>[]> {
  const pages: OutputOf<O>[] = [];
  let after: string | null = null;
  do {
    const page: OutputOf<O> = await ask(bus, spec, { after } as BodyOf<O>, {
      requestId,
      deadline: Date.now() + timeoutMs,
    });
    pages.push(page);
    after = (page as { next: string | null }).next;
  } while (after !== null);
  return pages;
}
