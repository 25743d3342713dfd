import type { Bus } from '@kith/bus';
import {
  blocksPage,
  connectionAccepted,
  eventFilter,
  eventSubject,
  feedNotice,
  feedSubject,
  getJwks,
  internalSubject,
  noticeSubject,
  projectSettingsNotice,
  revocationNotice,
  rpcSubject,
  usersPage,
} from '@kith/contracts';
import {
  handler,
  internalHandler,
  PermittedBus,
  type ServiceManifest,
  type ServiceRuntime,
  serviceConfig,
  startByManifest,
  startService,
  subscription,
} from '@kith/service';
import { availableEngines, createRuntime } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const nobody = new Uint8Array();
const message = { headers: {}, body: nobody };
const answer = async () => message;
const projectId = '00000000-0000-4000-8000-000000000000';
const durable = 'identity-connections';

/**
 * What services do on a bus. Each entry begins with the line of the manifest that allows the use. The second part is the text
 * of the refusal, in which `P` stands for the prefix. The third part is the call.
 */
const uses: readonly [line: string, what: string, does: (bus: Bus) => Promise<unknown>][] = [
  [
    'asks',
    'ask P.svc.connections.blocks-page',
    (bus) => bus.request(internalSubject(bus.prefix, blocksPage), message, 5_000),
  ],
  [
    'operations` or `internal',
    'serve P.rpc.identity.jwks',
    (bus) => bus.serve(rpcSubject(bus.prefix, getJwks), 'identity', answer),
  ],
  [
    'emits',
    `publish P.event.${projectId}.connection.accepted`,
    (bus) => bus.publish({ ...published(bus), body: nobody }),
  ],
  ['emits', `withdraw P.event.${projectId}.connection.accepted`, (bus) => bus.withdraw([published(bus)])],
  ['emits', 'read dead letters', (bus) => bus.deadEvents()],
  ['emits', 'read dead letters', (bus) => bus.deadEvent('event-1')],
  [
    'subscriptions',
    `consume events as ${durable}`,
    (bus) =>
      bus.consume({ durable, subjects: [eventFilter(bus.prefix, connectionAccepted)] }, async () => {}),
  ],
  ['subscriptions', `read the backlog of ${durable}`, (bus) => bus.backlog(durable)],
  ['subscriptions', `start ${durable} over`, (bus) => bus.startOver(durable)],
  [
    'tells',
    'tell P.notice.revocations',
    (bus) => bus.broadcast(noticeSubject(bus.prefix, revocationNotice), nobody),
  ],
  [
    'hears',
    'hear P.feed.p.u',
    (bus) => bus.listen(feedSubject(bus.prefix, { projectId: 'p', userId: 'u' }), () => {}),
  ],
];
const published = (bus: Bus) => ({
  subject: eventSubject(bus.prefix, { projectId, type: connectionAccepted.type }),
  id: 'event-1',
});

const permitted: Partial<ServiceManifest<object>> = {
  operations: { jwks: handler(getJwks, async () => ({ keys: [] })) },
  asks: [blocksPage],
  emits: ['connection'],
  subscriptions: [subscription({ durable, events: [connectionAccepted], apply: async () => {} })],
  tells: [revocationNotice],
  hears: [feedNotice],
};

/** The bus of a service that was started by its manifest. */
async function busOf(runtime: ServiceRuntime, more: Partial<ServiceManifest<object>>): Promise<Bus> {
  let bus = runtime.bus;
  const manifest: ServiceManifest<object> = {
    ...{ name: 'identity', config: serviceConfig, operations: {}, ...more },
    start(own) {
      bus = own.bus;
      return startService(own, { name: 'identity', operations: {} }, { app: {} });
    },
  };
  const service = await startByManifest(manifest, runtime, { config: {}, store: undefined });
  await service.stop();
  return bus;
}

describe.each(availableEngines())('a service on its bus (%s)', (engine) => {
  let runtime: ServiceRuntime & AsyncDisposable;
  beforeAll(async () => {
    runtime = await createRuntime(engine);
    await runtime.bus.serve(internalSubject(runtime.bus.prefix, blocksPage), 'connections', answer);
  });
  afterAll(() => runtime?.[Symbol.asyncDispose]());

  it.each(uses)('may not do this without the entry `%s` in its manifest: %s', async (line, what, does) => {
    const bus = await busOf(runtime, {});
    const refused = new RegExp(
      `^identity may not ${what.replace('P', bus.prefix)}\\. To allow it, add .+ to \`${line}\` in the manifest of identity\\.$`,
    );
    await expect((async () => does(bus))()).rejects.toThrow(refused);
  });

  it.each(uses)('may do this with the entry `%s` in its manifest: %s', async (_line, _what, does) => {
    const bus = await busOf(runtime, permitted);
    // Some uses need an existing durable consumer.
    const subjects = [eventFilter(bus.prefix, connectionAccepted)];
    const consumed = await bus.consume({ durable, subjects }, async () => {});
    await consumed.drain();
    await expect(does(bus)).resolves.not.toThrow();
  });

  it('may serve only the operations in its manifest', async () => {
    const internal = [internalHandler(usersPage, async () => ({ users: [], next: null }))];
    const bus = await busOf(runtime, { internal });
    await (await bus.serve(internalSubject(bus.prefix, usersPage), 'identity', answer)).drain();
    expect(() => bus.serve(internalSubject(bus.prefix, blocksPage), 'identity', answer)).toThrow(
      'may not serve',
    );
  });

  it('may not send or hear notices that its manifest does not name', async () => {
    const bus = await busOf(runtime, permitted);
    const other = noticeSubject(bus.prefix, projectSettingsNotice);
    expect(() => bus.broadcast(other, nobody)).toThrow('identity may not tell');
    expect(() => bus.listen(other, () => {})).toThrow('identity may not hear');
    expect(() => bus.listen(`${bus.prefix}.>`, () => {})).toThrow('identity may not hear');
  });

  it('may forward requests only if its manifest has `forwards`, as the manifest of a gateway has', async () => {
    await runtime.bus.serve(rpcSubject(runtime.bus.prefix, getJwks), 'identity', answer);
    const forward = (bus: Bus) => bus.request(rpcSubject(bus.prefix, getJwks), message, 5_000);
    const gateway = new PermittedBus(runtime.bus, { name: 'gateway', forwards: true });
    expect((await forward(gateway)).body).toHaveLength(0);
    const service = await busOf(runtime, permitted);
    expect(() => forward(service)).toThrow(`identity may not ask ${service.prefix}.rpc.identity.jwks`);
  });
});
