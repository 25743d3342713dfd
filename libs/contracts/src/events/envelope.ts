import { z } from 'zod';
import { timestamp, uuid } from '../scalars.ts';

/**
 * The fields of every event on the bus (spec#events-envelope). `aggregate.seq` numbers the events of the aggregate from 1,
 * without gaps. `aggregate.epoch` counts how often the publishing service's database was restored; if absent, it is 0. Of two
 * events, the one with the higher epoch is newer, whatever their `seq` is (docs/adr/0028).
 */
export interface EventEnvelope<Type extends string = string, Data = unknown> {
  id: string;
  type: Type;
  version: number;
  projectId: string;
  occurredAt: string;
  actorId: string | null;
  aggregate: { type: string; id: string; seq: number; epoch?: number | undefined };
  data: Data;
}

export interface EventSpec {
  type: `${string}.${string}`;
  version: number;
  data: z.ZodType;
}

/** Declares an event type, keeping its literal types. */
export function event<const E extends EventSpec>(spec: E): E {
  return spec;
}

/** The schema of a whole event: the common fields and the `data`. */
export function eventSchema<E extends EventSpec>(spec: E) {
  return z.object({
    id: z.string(),
    type: z.literal(spec.type),
    version: z.literal(spec.version),
    projectId: uuid,
    occurredAt: timestamp,
    actorId: uuid.nullable(),
    aggregate: z.object({
      type: z.string(),
      id: z.string(),
      // An imported aggregate has `seq` 0 until its first change.
      seq: z.int().nonnegative(),
      epoch: z.int().nonnegative().optional(),
    }),
    data: spec.data,
  });
}

export type EventOf<E extends EventSpec> = EventEnvelope<E['type'], z.output<E['data']>>;

/**
 * A number by which the events of an aggregate can be sorted: by epoch, then by `seq`. In epoch 0, this number is the `seq`.
 */
export function eventOrder({ seq, epoch = 0 }: { seq: number; epoch?: number | undefined }): number {
  return epoch * 2 ** 32 + seq;
}

/** The subject of an event: `<prefix>.event.<projectId>.<feature>.<name>` (spec#events-subject). */
export function eventSubject(prefix: string, of: { projectId: string; type: string }): string {
  return `${prefix}.event.${of.projectId}.${of.type}`;
}

/** The subject filter for one event type over all projects. */
export function eventFilter(prefix: string, spec: { type: string }): string {
  return `${prefix}.event.*.${spec.type}`;
}
