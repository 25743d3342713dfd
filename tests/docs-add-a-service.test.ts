import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectionAccepted, connectionDisconnected, eventSubject } from '@kith/contracts';
import { makeEvent, type RunningService, type ServiceRuntime } from '@kith/service';
import { availableEngines, createRuntime, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBlocks } from './support/guide.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

interface Example {
  startStatistics(
    runtime: ServiceRuntime,
    statistics: { connections: Map<string, number>; applied: Set<string> },
  ): Promise<RunningService>;
}

describe.each(availableEngines())('docs/add-a-service.md (%s)', (engine) => {
  let folder: string;
  let example: Example;

  beforeAll(async () => {
    const [block] = await readBlocks('add-a-service.md');
    const code = block?.text ?? '';
    expect(code.split('\n').length).toBeLessThanOrEqual(35);
    // Below the project, so that its packages are found.
    folder = await mkdtemp(join(here, '.example-'));
    await writeFile(join(folder, 'statistics.ts'), code);
    example = await import(join(folder, 'statistics.ts'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('counts connections from the events it subscribes to, once each', async () => {
    await using runtime = await createRuntime(engine);
    const statistics = { connections: new Map<string, number>(), applied: new Set<string>() };
    const [projectId, ...ids] = Array.from({ length: 4 }, () => crypto.randomUUID()) as [
      string,
      string,
      string,
      string,
    ];
    const data = {
      connectionId: ids[0] as string,
      requesterId: ids[1] as string,
      receiverId: ids[2] as string,
    };
    const tell = async (
      spec: typeof connectionAccepted | typeof connectionDisconnected,
      seq: number,
      id?: string,
    ) => {
      const aggregate = { type: 'connection', id: `${ids[1]}:${ids[2]}`, seq };
      const event = {
        ...makeEvent(spec, { projectId, actorId: null, aggregate, data, occurredAt: new Date() }),
        ...(id ? { id } : {}),
      };
      const body = new TextEncoder().encode(JSON.stringify(event));
      const { bus } = runtime;
      await bus.publish({ subject: eventSubject(bus.prefix, event), id: `${event.id}-${seq}`, body });
      return event.id;
    };
    // Told before the service exists: it waits.
    const first = await tell(connectionAccepted, 1);
    await using _service = await example.startStatistics(runtime, statistics);
    await waitFor(() => statistics.connections.get(projectId) === 1, { what: 'the first event' });
    await tell(connectionAccepted, 2, first);
    await tell(connectionAccepted, 3);
    await tell(connectionDisconnected, 4);
    await tell(connectionAccepted, 5);
    await waitFor(() => statistics.applied.size === 4, { what: 'all events' });
    expect(statistics.connections.get(projectId)).toBe(2);
  });
});
