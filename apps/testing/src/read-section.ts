import type { Bus } from '@kith/bus';
import type { ExportSection, OutputOf } from '@kith/contracts';
import { ask } from '@kith/service';

/** Reads a section of a user's export to its end, as a gateway does, and returns its pages. */
export async function readSection<S extends ExportSection>(
  bus: Bus,
  section: S,
  of: { projectId: string; userId: string; limit: number },
): Promise<OutputOf<S>['items'][]> {
  const pages: OutputOf<S>['items'][] = [];
  let after: string | null = null;
  do {
    const context = { requestId: 'test-request', deadline: Date.now() + 20_000 };
    const page: OutputOf<ExportSection> = await ask(bus, section as ExportSection, { ...of, after }, context);
    pages.push(page.items as OutputOf<S>['items']);
    after = page.next;
  } while (after !== null);
  return pages;
}
