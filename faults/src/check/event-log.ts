import type { EventEnvelope } from '@kith/contracts';

/** All events that were ever seen in a platform's log, by aggregate and `seq`. */
export abstract class EventLog {
  readonly aggregates = new Map<string, Map<number, EventEnvelope>>();
  /** A text for each pair of different events that have the same aggregate and the same `seq`. */
  readonly contradictions: string[] = [];

  /** Reads the events that have arrived since the last read. */
  abstract read(): Promise<void>;

  /** Makes the next read start from the beginning. Needed if the log may have been replaced by a new log or an older copy. */
  abstract forgetPlace(): void;

  of(type: string, id: string): EventEnvelope[] {
    const events = this.aggregates.get(`${type} ${id}`) ?? new Map<number, EventEnvelope>();
    return [...events].toSorted(([a], [b]) => a - b).map(([, event]) => event);
  }

  protected add(event: EventEnvelope): void {
    const { type, id, seq } = event.aggregate;
    // Leaves out events that the fault suite itself has published.
    if (type === 'faults') return;
    const key = `${type} ${id}`;
    const events = this.aggregates.get(key) ?? new Map<number, EventEnvelope>();
    const known = events.get(seq);
    if (known && known.id !== event.id) {
      this.contradictions.push(`${key} has two events ${seq}: ${known.type} and ${event.type}`);
    }
    this.aggregates.set(key, events.set(seq, event));
  }
}
