import { createLogger } from '@kith/base';
import { streamNames } from '@kith/bus';
import { NatsBus } from '@kith/bus/nats';
import { availableEngines, eraseEngines, startEngines, uniquePrefix, waitFor } from '@kith/testing';
import { AckPolicy, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';

// A NATS user with the right to fetch events can choose any subject for their delivery (docs/adr/0056).
describe.runIf(availableEngines().includes('containers'))('events delivered to a service’s subject', () => {
  test('are treated neither as requests nor as notices', async () => {
    await using engines = await startEngines();
    const prefix = uniquePrefix();
    const log = createLogger({ name: 'test', level: 'silent' });
    const bus = await NatsBus.connect({ url: engines.natsUrl, name: 'test', prefix, log });
    const [asked, heard]: [string[], string[]] = [[], []];
    const text = (body: Uint8Array) => new TextDecoder().decode(body);
    await bus.serve(`${prefix}.rpc.test.run`, 'test', async (message) => {
      asked.push(text(message.body));
      return message;
    });
    await bus.listen(`${prefix}.notice.test`, ({ body }) => heard.push(text(body)));

    const body = new TextEncoder().encode('forged');
    for (const id of ['1', '2', '3']) await bus.publish({ subject: `${prefix}.event.p.test.made`, id, body });
    const attacker = await connect({ servers: engines.natsUrl });
    const { consumers } = await jetstreamManager(attacker);
    const { events } = streamNames(prefix);
    await consumers.add(events, { durable_name: 'own', ack_policy: AckPolicy.Explicit });
    for (const reply of [`${prefix}.rpc.test.run`, `${prefix}.notice.test`]) {
      attacker.publish(`$JS.API.CONSUMER.MSG.NEXT.${events}.own`, '1', { reply });
      // This request to JetStream names the subject `rpc.test.run` for the reply, so JetStream sends its reply there.
      attacker.publish(`$JS.API.STREAM.INFO.${events}`, '', { reply: `${prefix}.rpc.test.run` });
    }
    await waitFor(async () => (await consumers.info(events, 'own')).num_ack_pending === 2);

    const honest = new TextEncoder().encode('honest');
    await bus.request(`${prefix}.rpc.test.run`, { headers: {}, body: honest }, 5_000);
    await bus.broadcast(`${prefix}.notice.test`, honest);
    await waitFor(() => heard.length > 0);
    expect([asked, heard]).toEqual([['honest'], ['honest']]);
    await attacker.close();
    await bus.close();
    await eraseEngines(engines, prefix);
  });
});
