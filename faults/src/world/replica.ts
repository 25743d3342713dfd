import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessName, type ServiceProcess, startServiceProcess } from '@kith/platform';
import type { Upstream } from './balancer.ts';
import { isReady } from './is-ready.ts';

export interface ReplicaOptions {
  name: ProcessName;
  /** The name of the replica's node. */
  node: string;
  env: NodeJS.ProcessEnv;
  internalPort: number;
  logFile: string;
}

/** A process of a service. Whenever the process ends, it is started again, like a container with a restart policy. */
export class Replica {
  readonly name: ProcessName;
  readonly node: string;
  readonly readyUrl: string;
  readonly #options: ReplicaOptions;
  #process: ServiceProcess | undefined;
  #starting: Promise<void> | undefined;
  #giveUp = new AbortController();
  #isWanted = false;
  /** The checkout that the process runs from, if it is not this checkout. */
  #tree: string | undefined;
  /** Additional environment variables of the current process. */
  #extra: NodeJS.ProcessEnv = {};

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.name = options.name;
    this.node = options.node;
    this.readyUrl = `http://127.0.0.1:${options.internalPort}/readyz`;
  }

  /** The addresses at which a balancer reaches the process. */
  get upstream(): Upstream {
    return { port: Number(this.#options.env.PORT), readyUrl: this.readyUrl };
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts the process, and waits until it serves. */
  start(extra: NodeJS.ProcessEnv = {}): Promise<void> {
    this.#isWanted = true;
    this.#extra = extra;
    if (!this.#starting) this.#giveUp = new AbortController();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** From now on starts the process from another checkout. `undefined` means this checkout again. */
  runFrom(tree: string | undefined): void {
    this.#tree = tree;
  }

  /** Sends SIGKILL. The process is started again. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  signal(signal: NodeJS.Signals): void {
    if (this.pid) process.kill(this.pid, signal);
  }

  /** Sends SIGTERM, waits until the process has ended, and starts a new process. */
  async restart(extra: NodeJS.ProcessEnv = this.#extra): Promise<void> {
    await this.stop();
    await this.start(extra);
  }

  /** Sends SIGTERM, and waits until the process has ended. The process is not started again. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    this.#giveUp.abort();
    await this.#starting?.catch(() => undefined);
    await this.#process?.stop();
  }

  isReady(): Promise<boolean> {
    return isReady(this.readyUrl);
  }

  async #start(): Promise<void> {
    const { name, env, internalPort, logFile } = this.#options;
    for (;;) {
      try {
        const one = await startServiceProcess(name, {
          env: { ...env, INTERNAL_PORT: String(internalPort), ...this.#extra },
          logFile,
          signal: this.#giveUp.signal,
          ...(this.#tree && { main: join(this.#tree, 'services', name, 'src/main.ts') }),
        });
        this.#process = one;
        void one.exited.then(() => this.#comeBack(one));
        return;
      } catch (error) {
        // A process cannot start while an engine is unavailable, so the start is tried again.
        if (!this.#isWanted) throw error;
        await sleep(500);
      }
    }
  }

  async #comeBack(ended: ServiceProcess): Promise<void> {
    if (this.#process === ended) this.#process = undefined;
    if (!this.#isWanted) return;
    await sleep(500);
    if (this.#isWanted && !this.#process) await this.start(this.#extra).catch(() => undefined);
  }
}
