import type { Operation } from '@kith/contracts';
import type { ServiceBackup, StoreConfig } from '@kith/store';
import type { z } from 'zod';
import type { mongoConfig, natsConfig, serviceConfig } from '../config/common.ts';
import type { EventSubscription } from '../events/subscribe.ts';
import type { HttpHandler } from '../http/http-handler.ts';
import type { HttpIntakeConfig } from '../http/http-intake.ts';
import type { InternalHandler, OperationHandler } from '../operations/handler.ts';
import type { BusUses } from './bus-uses.ts';
import { PermittedBus } from './permitted-bus.ts';
import type { RunningService, ServiceRuntime } from './runtime.ts';

/** What a form of deployment gives to each service that it starts. */
export interface Given<Config = object, Store = StoreConfig | undefined> {
  /** What the process has read from its environment. */
  config: Config;
  /** Where to store data. Only for a service that has `stores`. */
  store: Store;
  /** A folder for files beside the store, if the form of deployment has a folder. */
  folder?: string | undefined;
  /**
   * If set, the service must not send anything to the outside. This is set if its data is a backup that was not adopted
   * (docs/adr/0038), or if its data is being moved.
   */
  isSilent?: boolean;
  /** Where to receive and send bytes. Only for a service that has `streams`. */
  http?: HttpIntakeConfig | undefined;
}

/** Everything that other code knows about a service (docs/adr/0042). */
export interface ServiceManifest<App = never> extends BusUses {
  /** The environment that the service reads if it is a process of its own. */
  readonly config: typeof serviceConfig;
  readonly operations: Readonly<Record<string, OperationHandler<App>>>;
  /** The service's uploads and downloads. Their bytes go over HTTP and not over the bus (docs/adr/0045). */
  readonly streams?: Readonly<Record<string, HttpHandler<App>>>;
  readonly internal?: readonly InternalHandler<App>[];
  readonly subscriptions?: readonly EventSubscription<App>[];
  /** What the service stores, and what a backup has to know about this. A service without `stores` has no store. */
  readonly stores?: ServiceBackup | undefined;
  start(runtime: ServiceRuntime, given: Given): Promise<RunningService>;
}

/** The operations that a service serves over the bus. The gateway itself serves the operations of the kind `stream`. */
type OperationOf<Service extends string> = Exclude<
  Extract<Operation, { name: `${Service}.${string}` }>,
  { kind: 'stream' | 'upload' | 'download' }
>;

/** The uploads and downloads of a service. */
type StreamedOf<Service extends string> = Extract<
  Operation,
  { name: `${Service}.${string}`; kind: 'upload' | 'download' }
>;

type HandlersOf<Service extends string, App> = {
  readonly [O in OperationOf<Service> as O['name'] extends `${Service}.${infer Short}`
    ? Short
    : never]: OperationHandler<App, O>;
};

type HttpHandlersOf<Service extends string, App> = {
  readonly [O in StreamedOf<Service> as O['name'] extends `${Service}.${infer Short}`
    ? Short
    : never]: HttpHandler<App, O>;
};

/** The settings for reaching engines. A service does not read them, because its form of deployment has already read them. */
type EngineKeys = keyof (typeof natsConfig)['shape'] | keyof (typeof mongoConfig)['shape'];

interface Declared<
  App,
  Name extends string,
  Config extends z.ZodObject,
  Handlers,
  Stores extends ServiceBackup | undefined,
> extends Omit<ServiceManifest<App>, 'operations' | 'streams' | 'start'> {
  readonly name: Name;
  readonly config: Config & typeof serviceConfig;
  /** The handlers of all operations that the contracts define for this service, except streams, uploads and downloads. */
  readonly operations: Handlers &
    Readonly<Record<Exclude<keyof Handlers, keyof HandlersOf<Name, App>>, never>>;
  /**
   * The handlers of all uploads and downloads that the contracts define for this service. A service that has none leaves this
   * out.
   */
  readonly streams?: [StreamedOf<Name>] extends [never] ? undefined : HttpHandlersOf<Name, App>;
  readonly stores?: Stores;
  start(
    runtime: ServiceRuntime,
    given: Given<Omit<z.output<Config>, EngineKeys>, Stores extends ServiceBackup ? StoreConfig : undefined>,
  ): Promise<RunningService>;
}

/** Declares a service whose handlers work on an `App`. The compiler checks its operations against the contracts. */
export function serviceManifest<App>() {
  return <
    const Name extends string,
    Config extends typeof serviceConfig,
    Handlers extends HandlersOf<Name, App>,
    Stores extends ServiceBackup | undefined = undefined,
  >(
    declared: Declared<App, Name, Config, Handlers, Stores>,
  ) => declared as unknown as ServiceManifest & { readonly name: Name; readonly config: Config };
}

/**
 * Starts a service by its manifest, in either form of deployment. The bus of the service allows only what the manifest lists.
 */
export function startByManifest(
  manifest: ServiceManifest,
  runtime: ServiceRuntime,
  given: Given,
): Promise<RunningService> {
  return manifest.start({ ...runtime, bus: new PermittedBus(runtime.bus, manifest) }, given);
}
