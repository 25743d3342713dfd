import { setTimeout as wait } from 'node:timers/promises';
import type { Bus } from '@kith/bus';
import { type ExportSection, exportPageItems } from '@kith/contracts';
import { ask } from '@kith/service';
import { busFailure, isFailure } from '../forward/bus-failure.ts';

/** Some items of a section, and where the next items begin. `next` is null at the end. */
export interface SectionPage {
  items: readonly unknown[];
  next: string | null;
}

/** The fields that all requests for the pages of one export have in common. */
export interface SectionRequest {
  projectId: string;
  userId: string;
  requestId: string;
  /** How long a page may take, in ms. */
  timeoutMs: number;
  /**
   * How long to wait before each further attempt after a request for a page has failed, in ms. There is one further attempt for
   * each entry.
   */
  retryMs: readonly number[];
  /** When aborted, this ends all requests for pages. */
  signal: AbortSignal;
  /** Checks the request's token again. Rejects if the request is no longer allowed. */
  identify: () => Promise<unknown>;
}

/**
 * Asks for a section's first page, and does not repeat a request that fails. Throws the service's code, `gateway/unavailable`
 * or `gateway/timeout`.
 */
export function firstPage(bus: Bus, section: ExportSection, of: SectionRequest): Promise<SectionPage> {
  return page(bus, section, of, null);
}

/**
 * Yields a section page by page, beginning with `first`. Asks for a page only when the consumer wants it. If a request for a
 * page fails, repeats it. Throws if the repeats fail, too.
 */
export async function* pagesFrom(
  bus: Bus,
  section: ExportSection,
  of: SectionRequest,
  first: SectionPage,
): AsyncGenerator<SectionPage> {
  let current = first;
  yield current;
  while (current.next !== null) {
    await checkToken(of);
    current = await patiently(bus, section, of, current.next);
    of.signal.throwIfAborted();
    yield current;
  }
}

async function patiently(bus: Bus, section: ExportSection, of: SectionRequest, after: string) {
  for (const ms of of.retryMs) {
    of.signal.throwIfAborted();
    try {
      return await page(bus, section, of, after);
    } catch {
      await wait(ms, undefined, { signal: of.signal });
    }
  }
  return page(bus, section, of, after);
}

async function page(bus: Bus, section: ExportSection, of: SectionRequest, after: string | null) {
  const { projectId, userId, requestId, timeoutMs } = of;
  const range = { projectId, userId, after, limit: exportPageItems };
  try {
    return await ask(bus, section, range, { requestId, deadline: Date.now() + timeoutMs });
  } catch (error) {
    throw busFailure(error);
  }
}

/**
 * Throws if the request is no longer allowed, and so ends the export. While identity is away or fails, the export goes on.
 * Streams follow the same rule.
 */
async function checkToken({ identify }: SectionRequest): Promise<void> {
  try {
    await identify();
  } catch (error) {
    if (!isFailure(error)) throw error;
  }
}
