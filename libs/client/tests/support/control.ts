import type { Session } from '../../src/index.ts';
import type { Fault, Seen } from './proxy.ts';

/** Someone who has signed up. */
export interface Person {
  email: string;
  password: string;
  session: Session;
}

/** What a behaviour can have done outside of the client: by the test's process, also from a page. */
export interface Control {
  person(name?: string): Promise<Person>;
  connect(from: Person, to: Person): Promise<void>;
  /** Lets one ask the other to connect, on a way that nothing happens to. */
  request(from: Person, to: Person): Promise<void>;
  suspend(person: Person): Promise<void>;
  fault(fault: Fault): Promise<void>;
  /** Takes the way to the platform down for a time, in ms. */
  downFor(ms: number): Promise<void>;
  /** Ends every connection to the platform. */
  cut(): Promise<void>;
  /** The requests that have come by since the last time it was asked. */
  seen(): Promise<Seen[]>;
}

/** Where a behaviour runs. */
export interface World {
  url: string;
  projectId: string;
  control: Control;
}
