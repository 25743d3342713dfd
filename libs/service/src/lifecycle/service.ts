import { type Metrics, within } from '@kith/base';
import type { Bus, Intake } from '@kith/bus';
import type { Outbox } from '@kith/store';
import type { Logger } from 'pino';
import { type StoreTimes, StoreWatch } from '../background/store-watch.ts';
import { startOverIfRestored } from '../events/restored.ts';
import { type EventSubscription, subscribe } from '../events/subscribe.ts';
import { Admission } from '../operations/admission.ts';
import type { InternalHandler, OperationHandler } from '../operations/handler.ts';
import { serveInternal, serveOperation } from '../operations/serve.ts';

/** A service that runs. Ending it twice is ending it once. */
export interface RunningService extends AsyncDisposable {
  readonly name: string;
  /** What is missing for being ready; nothing when ready. */
  notReady(): Promise<readonly string[]>;
  /** Resolves when the store has been away for so long that only a new process can help. */
  readonly failed?: Promise<Error>;
  /** Stop intake, wait for what is in flight (bounded), then let go of the stores. The bus stays. */
  stop(): Promise<void>;
}

/** What every service is given: the process's bus, log and metrics. */
export interface ServiceRuntime {
  bus: Bus;
  log: Logger;
  metrics: Metrics;
  nodeEnv: 'production' | 'development' | 'test';
  /** `OPERATIONS_AT_ONCE` */
  operationsAtOnce?: number;
  /** Times of looking after the store, where they are to differ. */
  storeTimes?: Partial<StoreTimes>;
}

export interface ServiceParts<App> {
  /** Names its log lines and metrics. */
  name: string;
  app: App;
  operations: readonly OperationHandler<App>[];
  internal?: readonly InternalHandler<App>[];
  subscriptions?: readonly EventSubscription<App>[];
  /** The events of its store, which also knows how far its subscriptions have got, and whether that was restored from a backup (docs/adr/0028). */
  outbox?: Outbox;
  /** What else follows from a restore, before anything is served. Repeatable. */
  restored?: () => Promise<void>;
  /** Runs until stopped, after intake has ended: relays, sweeps. */
  background?: readonly { stop(): Promise<void> }[];
  /** Throws or rejects when the store cannot be used. */
  checkStore?: () => Promise<void>;
  close?: () => Promise<void>;
}

const drainMs = 10_000;

/** Starts a service: subscriptions first, so that the first request finds what events have brought. */
export async function startService<App>(
  runtime: ServiceRuntime,
  parts: ServiceParts<App>,
): Promise<RunningService> {
  const { bus, metrics } = runtime;
  const log = runtime.log.child({ service: parts.name });
  const { checkStore } = parts;
  const store = checkStore && new StoreWatch(checkStore, { log, times: runtime.storeTimes });
  const unwatch = store && metrics.storeUp.watch({ service: parts.name }, () => Number(!store.isAway));
  const checkOutput = runtime.nodeEnv !== 'production';
  const namesUnread = runtime.nodeEnv === 'development';
  const progress = parts.outbox?.progress;
  const options = { bus, metrics, log, app: parts.app, checkOutput, namesUnread, store, progress };
  const intakes: Intake[] = [];
  const { subscriptions = [], outbox } = parts;
  const durables = subscriptions.map(({ durable }) => durable);
  const restored = outbox && (await startOverIfRestored({ bus, outbox }, durables));
  for (const one of subscriptions) intakes.push(await subscribe(one, options));
  if (restored) {
    await parts.restored?.();
    await restored.finish();
    log.info('finished the steps after a restore');
  }
  for (const one of parts.internal ?? []) intakes.push(await serveInternal(one, options));
  const shared = new Admission(runtime.operationsAtOnce);
  for (const one of parts.operations) {
    const admission = { shared, own: new Admission(runtime.operationsAtOnce), none: undefined }[one.places];
    intakes.push(await serveOperation(one, { ...options, admission }));
  }
  log.info('service started');

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    unwatch?.();
    await store?.stop();
    const drained = Promise.all(intakes.map((intake) => intake.drain())).then(() => true);
    if (!(await within(drained, drainMs))) log.warn('stopped with work still in flight');
    for (const one of parts.background ?? []) await within(one.stop(), drainMs);
    await parts.close?.();
    log.info('service stopped');
  };
  const service: RunningService = {
    name: parts.name,
    ...(store && { failed: store.lost }),
    async notReady() {
      const missing: string[] = [];
      if (stopping) missing.push('stopping');
      if (!bus.isConnected()) missing.push('bus');
      const answers = checkStore?.().then(
        () => true,
        () => false,
      );
      if (answers && !(await within(answers, 2_000))) missing.push('store');
      return missing;
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
    [Symbol.asyncDispose]: () => service.stop(),
  };
  return service;
}
