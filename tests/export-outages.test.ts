import { request as httpRequest } from 'node:http';
import { exportEntities, type exportUser, internalSubject, type OutputOf } from '@kith/contracts';
import { handlerEngines, type TestUser } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { type ExportWorld, startExportWorld } from './support/export-world.ts';
import { http } from './support/http.ts';

type Document = OutputOf<typeof exportUser>;

const pathOf = (user: TestUser) => `/v7/${user.projectId}/users/${user.id}/export`;
const large = (index: number) => ({ index, text: 'ü'.repeat(4_000) });

describe.each(handlerEngines())('an export while services end (%s)', (engine) => {
  let world: ExportWorld;
  let user: TestUser;
  let before: (subject: string, body: Uint8Array) => Promise<void>;
  const start = async () => {
    before = async () => undefined;
    world = await startExportWorld(engine, { before: (...asked) => before(...asked) });
    user = await world.createUser((await world.createProject()).id);
    const { id } = await world.createCollection(user, 'Large');
    for (let index = 0; index < 40; index++) {
      const path = `/v7/${user.projectId}/collections/${id}/entities`;
      const body = { entityId: `entity ${index}`, metadata: large(index) };
      const answer = await http(world.url, { method: 'POST', path, token: user.accessToken, body });
      expect(answer.status).toBe(200);
    }
    return world;
  };

  it('the export fails before the first byte if a service is missing, and breaks off if a service dies meanwhile', async () => {
    await using _ = await start();
    const whole = await take(world.url, user);
    expect([whole.status, whole.isWhole]).toEqual([200, true]);
    expect((JSON.parse(whole.text) as Document).savedEntities).toHaveLength(40);

    // The collections service is stopped when the gateway asks it for the second page of saved entities. By then the gateway
    // has sent the status and the headers of its answer.
    before = async (subject, body) => {
      const isSecond = !new TextDecoder().decode(body).includes('"after":null');
      if (subject.endsWith(internalSubject('', exportEntities)) && isSecond) {
        await world.services.collections.stop();
      }
    };
    const broken = await take(world.url, user);
    expect([broken.status, broken.isWhole]).toEqual([200, false]);
    expect(broken.text).toContain('"savedEntities":[{');
    expect(() => JSON.parse(broken.text)).toThrow();

    const absent = await take(world.url, user);
    expect([absent.status, absent.isWhole, JSON.parse(absent.text)]).toEqual([
      503,
      true,
      {
        error: 'The service behind this endpoint is not available. Try again later.',
        code: 'gateway/unavailable',
      },
    ]);
  });
});

/** Downloads an export. Reports whether the whole answer arrived. */
function take(url: string, user: TestUser): Promise<{ status: number; text: string; isWhole: boolean }> {
  const headers = { authorization: `Bearer ${user.accessToken}` };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url + pathOf(user), { headers, agent: false }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => {
        text += chunk;
      });
      incoming.on('error', () => undefined);
      incoming.on('close', () =>
        resolve({ status: incoming.statusCode ?? 0, text, isWhole: incoming.complete }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
