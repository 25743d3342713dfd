import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';

interface Write {
  subject: string;
  body: Uint8Array;
  options: { reply?: string; headers: MsgHdrs };
  /** Called if the message could not be written because the connection is closed. */
  failed: (error: unknown) => void;
}

/**
 * Collects writes to NATS and makes them once per turn of the event loop. Without this class, the client would write when the
 * running callback ends. Each HTTP request has its own callback, so the client would make one system call per request. With
 * this class, the messages of HTTP requests that arrived together are written in one system call.
 */
export class NatsWrites {
  readonly #nc: Pick<NatsConnection, 'publish'>;
  #waiting: Write[] = [];

  constructor(nc: Pick<NatsConnection, 'publish'>) {
    this.#nc = nc;
  }

  /** Publishes at the end of this turn of the event loop. */
  add(write: Write): void {
    if (this.#waiting.push(write) === 1) setImmediate(() => this.flush());
  }

  /** Passes the waiting writes to the client now. */
  flush(): void {
    const writes = this.#waiting;
    this.#waiting = [];
    for (const { subject, body, options, failed } of writes) {
      try {
        this.#nc.publish(subject, body, options);
      } catch (error) {
        failed(error);
      }
    }
  }
}
