import type { EventOf, events } from '@kith/contracts';

type Spec = (typeof events)[number];

/** A type of the platform's events, for example `connection.accepted`. */
export type EventType = Spec['type'];

/** An event of a type, as its contract defines it. */
export type EventOfType<T extends EventType> = EventOf<Extract<Spec, { type: T }>>;

/** An event of any type. Its `type` names the type. */
export type PlatformEvent = { [T in EventType]: EventOfType<T> }[EventType];

export interface WaitForEventOptions<E = PlatformEvent> {
  /** A further condition, in addition to the type or the predicate. */
  where?: (event: E) => boolean;
  /** How long to wait; 15 s by default. */
  timeoutMs?: number;
  /**
   * Which events are considered. `start` (default): every event since the platform's start. `now`: only events that arrive
   * after the call; the event of an earlier change may arrive later than the answer. An event: only events that came after it.
   */
  since?: 'start' | 'now' | PlatformEvent;
}

/** Waits for an event of the platform. The event has a given type, or a predicate accepts it. */
export interface WaitForEvent {
  <T extends EventType>(type: T, options?: WaitForEventOptions<EventOfType<T>>): Promise<EventOfType<T>>;
  (accept: (event: PlatformEvent) => boolean, options?: WaitForEventOptions): Promise<PlatformEvent>;
}

/** Every event of a platform since its start, each once, in the order of arrival. */
export class EventRecord {
  readonly #events: PlatformEvent[] = [];
  readonly #ids = new Set<string>();
  readonly #looking = new Set<() => void>();
  #ended = false;

  /** The events that have come so far. */
  get all(): readonly PlatformEvent[] {
    return [...this.#events];
  }

  /** Adds an event from its bytes. If the record already has the event, this changes nothing. */
  add(body: Uint8Array): void {
    const event = JSON.parse(new TextDecoder().decode(body)) as PlatformEvent;
    if (this.#ids.has(event.id)) return;
    this.#ids.add(event.id);
    this.#events.push(event);
    for (const look of [...this.#looking]) look();
  }

  /** Resolves with the first event that matches. Rejects if no such event comes in time, or if no event can come any more. */
  readonly waitFor = ((
    match: EventType | ((event: PlatformEvent) => boolean),
    { where = () => true, timeoutMs = 15_000, since = 'start' }: WaitForEventOptions = {},
  ) => {
    const isMatch = typeof match === 'string' ? ({ type }: PlatformEvent) => type === match : match;
    const what = typeof match === 'string' ? match : 'an event';
    const found = new Promise<PlatformEvent>((resolve, reject) => {
      let next = this.#positionOf(since);
      const look = () => {
        try {
          for (let event = this.#events[next]; event; event = this.#events[++next]) {
            if (isMatch(event) && where(event)) return finish(() => resolve(event));
          }
          if (this.#ended) throw new Error(`The platform has ended without ${what}.`);
        } catch (error) {
          finish(() => reject(error));
        }
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(this.#inVain(what, timeoutMs)))),
        timeoutMs,
      );
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        this.#looking.delete(look);
        settle();
      };
      this.#looking.add(look);
      look();
    });
    // If a test fails before it awaits this promise, only the test's own failure is reported.
    found.catch(() => undefined);
    return found;
  }) as WaitForEvent;

  /** Ends all calls of `waitFor`, because no event comes any more. */
  end(): void {
    this.#ended = true;
    for (const look of [...this.#looking]) look();
  }

  #positionOf(since: 'start' | 'now' | PlatformEvent): number {
    if (since === 'start') return 0;
    if (since === 'now') return this.#events.length;
    const position = this.#events.findIndex(({ id }) => id === since.id);
    if (position < 0) throw new RangeError('`since` is no event of this platform.');
    return position + 1;
  }

  #inVain(what: string, timeoutMs: number): string {
    const counts = Map.groupBy(this.#events, ({ type }) => type);
    const seen = [...counts].map(([type, list]) => `${list.length} ${type}`).join(', ');
    return `Waited ${timeoutMs} ms in vain for ${what}; seen so far: ${seen || 'nothing'}.`;
  }
}
