import type { EventFeature, InternalOperationSpec, NoticeSpec } from '@kith/contracts';

/** What a process does on the bus. It may do nothing else (docs/adr/0042). */
export interface BusUses {
  readonly name: string;
  /** The operations it serves, by their short names. */
  readonly operations?: Readonly<Record<string, { readonly spec: { readonly name: string } }>>;
  /** Its answers to the questions of other services. */
  readonly internal?: readonly { readonly spec: InternalOperationSpec }[];
  /** What it asks other services. */
  readonly asks?: readonly InternalOperationSpec[];
  /** The features whose events it publishes and withdraws. */
  readonly emits?: readonly EventFeature[];
  /** The events it consumes, each in a durable consumer of its own. */
  readonly subscriptions?: readonly { readonly durable: string }[];
  /** The notices it sends. */
  readonly tells?: readonly NoticeSpec[];
  /** The notices it listens to. */
  readonly hears?: readonly NoticeSpec[];
  /** Whether it forwards requests to the operations of all services, as gateways do. */
  readonly forwards?: boolean;
}
