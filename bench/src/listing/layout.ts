import type { Bus } from '@kith/bus';
import type { OperationSpec } from '@kith/contracts';
import type { StoreConfig } from '@kith/store';
import type { ServiceMove } from '@kith/store/open';
import type { StoredRow as SeedRow } from '@kith/testing';

export type { SeedRow };

/** A list of a known length, and the user who asks for the list. */
export interface Target {
  size: number;
  projectId: string;
  userId: string;
  params: Record<string, string>;
}

/** A kind of list, in several lengths. */
export interface Kind {
  name: string;
  title: string;
  spec: OperationSpec;
  /** Whether pages have numbers. Pages without numbers can only be reached by cursor. */
  hasNumbers: boolean;
  /** Whether the list can be searched. */
  hasQuery: boolean;
  targets: readonly Target[];
}

/** The data that the benchmark stores for a service: its lists, and how to serve them. */
export interface Layout {
  /** Says how to make documents from `rows()`, and how to create the schema. */
  move: ServiceMove;
  kinds: readonly Kind[];
  rows(): Iterable<SeedRow>;
  serve(config: StoreConfig): Promise<{ bus: Bus } & AsyncDisposable>;
}

export const firstMs = Date.UTC(2026, 0, 1);
