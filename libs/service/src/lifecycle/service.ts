import { setTimeout as wait } from 'node:timers/promises';
import { within } from '@kith/base';
import type { Intake } from '@kith/bus';
import type { Outbox, Replies } from '@kith/store';
import { StoreWatch } from '../background/store-watch.ts';
import { Sweeper } from '../background/sweeper.ts';
import { checkForMissed, checkMissedMs } from '../events/missed-events.ts';
import { startOverIfRestored } from '../events/restored.ts';
import { subscribe } from '../events/subscribe.ts';
import { type HttpIntakeConfig, serveHttp } from '../http/http-intake.ts';
import type { ServiceManifest } from '../manifest/manifest.ts';
import { refuseIncomplete } from '../manifest/refuse-incomplete.ts';
import type { RunningService, ServiceRuntime } from '../manifest/runtime.ts';
import { Admission } from '../operations/admission.ts';
import type { AuditLog } from '../operations/audited.ts';
import type { OperationHandler } from '../operations/handler.ts';
import { serveInternal, serveOperation } from '../operations/serve.ts';

/** The parts of a manifest that are needed to start the service. */
type Manifest<App> = Pick<
  ServiceManifest<App>,
  'name' | 'operations' | 'streams' | 'internal' | 'emits' | 'subscriptions'
>;

/** What a service has opened or created for its work. */
export interface ServiceParts<App> {
  app: App;
  /**
   * The outbox of the service's store. The outbox also stores the progress of the subscriptions, and whether the store was
   * restored from a backup (docs/adr/0028).
   */
  outbox?: Outbox;
  /**
   * Where the service stores answers to requests with an idempotency key. A service without `replies` accepts no idempotency
   * keys.
   */
  replies?: Replies | undefined;
  /** Where the service keeps the audit log, if it keeps one. */
  auditLog?: AuditLog | undefined;
  /** Further steps after a restore. They run before the service serves anything. They must be repeatable. */
  restored?: () => Promise<void>;
  /**
   * The sweeps and, as the last element, the relay. They are stopped after the intake has ended. The relay is stopped last, so
   * that it also publishes the last events of the sweeps.
   */
  background?: readonly { stop(): Promise<void> }[];
  /** Throws or rejects if the store cannot be used. */
  checkStore?: () => Promise<void>;
  close?: () => Promise<void>;
  /** Where to serve the service's `streams`. */
  http?: HttpIntakeConfig | undefined;
}

/**
 * How long each of these may take to end, in ms: the work in flight, the sweeps, and the relay. Closing the bus takes time too.
 * The sum of all four times is less than `stopMs`.
 */
const drainMs = 10_000;
const sweepsMs = 8_000;
const relayMs = 4_000;

/**
 * Starts a service. Subscriptions start first, so that the first request finds the data that events have brought. Throws if a
 * part that the service needs is missing (`refuseIncomplete`).
 */
export async function startService<App>(
  runtime: ServiceRuntime,
  manifest: Manifest<App>,
  parts: ServiceParts<App>,
): Promise<RunningService> {
  refuseIncomplete(manifest, parts);
  const { bus, metrics } = runtime;
  const { name, operations, internal = [], subscriptions = [] } = manifest;
  const log = runtime.log.child({ service: name });
  const { checkStore } = parts;
  const store = checkStore && new StoreWatch(checkStore, { log, times: runtime.storeTimes });
  const unwatch = store && metrics.storeUp.watch({ service: name }, () => Number(!store.isAway));
  const checkOutput = runtime.nodeEnv !== 'production';
  const namesUnread = runtime.nodeEnv === 'development';
  const progress = parts.outbox?.progress;
  const { replies, outbox, auditLog } = parts;
  const asked = { checkOutput, namesUnread, replies, outbox, auditLog };
  const options = { bus, metrics, log, app: parts.app, store, progress, ...asked };
  const intakes: Intake[] = [];
  const durables = subscriptions.map(({ durable }) => durable);
  const restored = outbox && (await startOverIfRestored({ bus, outbox }, durables));
  intakes.push(...(await Promise.all(subscriptions.map((one) => subscribe(one, options)))));
  if (restored) {
    await parts.restored?.();
    await restored.finish();
    log.info('finished the steps after a restore');
  }
  const shared = new Admission(runtime.operationsAtOnce);
  const admissionOf = ({ places }: OperationHandler<App>) =>
    ({ shared, own: new Admission(runtime.operationsAtOnce), none: undefined })[places];
  // Serves all operations at the same time. Requests for an operation come as soon as the operation is served. So under load, a
  // start that waited for the broker after each operation would take long.
  intakes.push(
    ...(await Promise.all([
      ...internal.map((one) => serveInternal(one, options)),
      ...Object.values(operations).map((one) =>
        serveOperation(one, { ...options, admission: admissionOf(one) }),
      ),
    ])),
  );
  const { streams } = manifest;
  // While the data is being restored or moved, `parts.http` is absent, and nobody is served.
  const http =
    streams && parts.http
      ? await serveHttp({
          ...parts.http,
          handlers: Object.values(streams),
          app: parts.app,
          log,
          metrics,
          checkOutput,
          outbox,
        })
      : undefined;
  const missed =
    outbox &&
    new Sweeper(() => checkForMissed({ bus, outbox, durables, metrics, log }), {
      everyMs: checkMissedMs,
      log,
    });
  missed?.kick();
  log.info('service started');

  let isDraining = false;
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    unwatch?.();
    // If one of these parts fails to end, the other parts and the parts below still end in order.
    const ends = [
      store?.stop(),
      missed?.stop(),
      ...intakes.map((intake) => intake.drain()),
      http?.stop(drainMs),
    ].map((one) =>
      one?.catch((error: unknown) => log.error({ err: error }, 'an error occurred while stopping')),
    );
    const drained = Promise.all(ends).then(() => true);
    if (!(await within(drained, http ? drainMs + 2_000 : drainMs)))
      log.warn('stopped with work still in flight');
    const sweeps = parts.background?.slice(0, -1) ?? [];
    await within(Promise.all(sweeps.map((one) => one.stop())), sweepsMs);
    await within(Promise.resolve(parts.background?.at(-1)?.stop()), relayMs);
    await parts.close?.();
    log.info('service stopped');
  };
  const service: RunningService = {
    name,
    ...(store && { failed: store.lost }),
    ...(http && {
      httpUrl: http.url,
      async drain() {
        isDraining = true;
        http.drain();
        await wait(parts.http?.drainMs ?? 0, undefined, { ref: false });
      },
    }),
    async notReady() {
      const missing: string[] = [];
      if (isDraining || stopping) missing.push('stopping');
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
