import type { EventFeature, InternalOperationSpec, NoticeSpec } from '@kith/contracts';

/** Everything that a process may do on the bus (docs/adr/0042). */
export interface BusUses {
  readonly name: string;
  /** The operations that the process serves, by their short names. */
  readonly operations?: Readonly<Record<string, { readonly spec: { readonly name: string } }>>;
  /** The operations that the process serves for other services. */
  readonly internal?: readonly { readonly spec: InternalOperationSpec }[];
  /** The operations that the process calls at other services. */
  readonly asks?: readonly InternalOperationSpec[];
  /** The features whose events the process publishes and withdraws. */
  readonly emits?: readonly EventFeature[];
  /** The events that the process consumes, each in its own durable consumer. */
  readonly subscriptions?: readonly { readonly durable: string }[];
  /** The notices that the process sends. */
  readonly tells?: readonly NoticeSpec[];
  /** The notices that the process listens to. */
  readonly hears?: readonly NoticeSpec[];
  /** Whether the process forwards requests to the operations of all services, as gateways do. */
  readonly forwards?: boolean;
}
