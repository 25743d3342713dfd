import type { EventEnvelope } from '@kith/contracts';

/** All events of a platform that were ever seen in its log, by aggregate and `seq`. */
export abstract class EventLog {
  readonly aggregates = new Map<string, Map<number, EventEnvelope>>();
  /** Two events of one `seq`. */
  readonly contradictions: string[] = [];

  /** Reads what has come since. */
  abstract read(): Promise<void>;

  /** The log may be another one now, or an older copy: all of it is read again. */
  abstract forgetPlace(): void;

  of(type: string, id: string): EventEnvelope[] {
    const events = this.aggregates.get(`${type} ${id}`) ?? new Map<number, EventEnvelope>();
    return [...events].toSorted(([a], [b]) => a - b).map(([, event]) => event);
  }

  protected add(event: EventEnvelope): void {
    const { type, id, seq } = event.aggregate;
    // What a row has put there itself.
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
