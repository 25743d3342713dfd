import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';

interface Write {
  subject: string;
  body: Uint8Array;
  options: { reply?: string; headers: MsgHdrs };
  /** Hears that it could not be written: the connection is closed. */
  failed: (error: unknown) => void;
}

/**
 * Writes to NATS once a turn of the loop. The client itself writes as soon as the running callback ends, and as each
 * HTTP request is a callback of its own that would be one system call a request; what has come in together goes out
 * together this way.
 */
export class NatsWrites {
  readonly #nc: Pick<NatsConnection, 'publish'>;
  #waiting: Write[] = [];

  constructor(nc: Pick<NatsConnection, 'publish'>) {
    this.#nc = nc;
  }

  /** Publishes at the end of this turn of the loop. */
  add(write: Write): void {
    if (this.#waiting.push(write) === 1) setImmediate(() => this.flush());
  }

  /** Hands what waits to the client now. */
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
