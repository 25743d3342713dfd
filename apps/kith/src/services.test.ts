import {
  auditRecorded,
  eventFilter,
  events,
  internalSubject,
  noticeFilter,
  serviceOf,
} from '@kith/contracts';
import { gatewayUses } from '@kith/gateway';
import type { BusUses } from '@kith/service';
import { describe, expect, it } from 'vitest';
import { restoredCommand } from './cli/commands/restored.ts';
import { natsRights } from './credentials/nats-rights.ts';
import { serviceBackups, serviceMoves, serviceOfEvent, services, storingNames } from './services.ts';

const uses: readonly BusUses[] = [...services, gatewayUses];

describe('the manifests fit each other', () => {
  it.each(uses)('$name sends only requests that other services answer', ({ name, asks = [] }) => {
    for (const spec of asks) {
      const answering = services.find((one) => one.name === serviceOf(spec));
      expect(answering?.name).not.toBe(name);
      expect(answering?.internal?.map((one) => one.spec.name)).toContain(spec.name);
    }
    expect(new Set(asks).size).toBe(asks.length);
  });

  it('every request that a service answers is sent by a service or the gateway', () => {
    const asked = new Set(uses.flatMap(({ asks = [] }) => asks.map((spec) => spec.name)));
    const answered = services.flatMap(({ internal = [] }) => internal.map(({ spec }) => spec.name));
    expect(answered.filter((name) => !asked.has(name))).toEqual([]);
  });

  it('every event type belongs to one service', () => {
    for (const { type } of events) {
      const [feature = ''] = type.split('.');
      const emitting = services.filter(({ emits = [] }) => (emits as readonly string[]).includes(feature));
      const data = { action: 'storage.create-image' };
      const names = emitting.map(({ name }) => name);
      // Every service that stores data publishes audit rows of its own operations.
      if (type === auditRecorded.type) expect(names).toEqual(storingNames);
      else expect(names).toEqual([serviceOfEvent({ type, data })]);
    }
    expect(serviceOfEvent({ type: auditRecorded.type, data: { action: 'storage.create-image' } })).toBe(
      'storage',
    );
    expect(serviceOfEvent({ type: 'weather.changed', data: {} })).toBeUndefined();
  });

  it('every durable consumer is named after its service and belongs to one subscription', () => {
    const durables = services.flatMap(({ name, subscriptions = [] }) =>
      subscriptions.map(({ durable }) => [name, durable] as const),
    );
    for (const [name, durable] of durables) expect(durable).toMatch(new RegExp(`^${name}-[a-z-]+$`));
    expect(new Set(durables.map(([, durable]) => durable)).size).toBe(durables.length);
  });

  it('every notice that a process listens to is published, and every published notice has a listener', () => {
    const told = new Set(uses.flatMap(({ tells = [] }) => tells));
    const heard = new Set(uses.flatMap(({ hears = [] }) => hears));
    expect(heard).toEqual(told);
  });
});

describe.each(uses)('the NATS user $name', (of) => {
  const { name, asks = [], emits = [], tells = [], hears = [], subscriptions = [] } = of;
  const { publish, subscribe } = natsRights('p')[name as 'gateway'];

  it('the user has all rights that its manifest needs', () => {
    for (const spec of asks) expect(publish).toContain(internalSubject('p', spec));
    for (const feature of emits) expect(publish).toContain(eventFilter('p', { type: `${feature}.>` }));
    for (const notice of tells) expect(publish).toContain(noticeFilter('p', notice));
    for (const { durable } of subscriptions) expect(publish).toContain(`p.dead.${durable}.*`);
    for (const notice of hears) expect(subscribe).toContain(noticeFilter('p', notice));
    expect(subscribe).toContain(`_INBOX_${name}.>`);
  });

  it('the user may send and publish only what its manifest needs', () => {
    const others = publish.filter((subject) => /^p\.(svc|event|notice|feed)\./.test(subject));
    expect(others).toHaveLength(asks.length + emits.length + tells.length);
    expect(publish.includes('p.rpc.>')).toBe(name === 'gateway');
  });
});

it('the data of all services can be moved, restored and backed up; a backup copies the services in reverse order', () => {
  const storing = services.filter(({ stores }) => stores).map(({ name }) => name as string);
  expect(serviceMoves.map(({ service }) => service)).toEqual(storing);
  expect(restoredCommand.words?.[0]?.choices).toEqual(storing);
  expect(serviceBackups.map(({ service }) => service)).toEqual(storing.toReversed());
});
