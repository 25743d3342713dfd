import type { Session } from '../../src/index.ts';
import type { Fault, Seen } from './proxy.ts';

/** Someone who has signed up. */
export interface Person {
  email: string;
  password: string;
  session: Session;
}

/**
 * Actions that a behaviour needs, but that the client cannot do. The test's process does them, even if the behaviour runs in a
 * page.
 */
export interface Control {
  person(name?: string): Promise<Person>;
  connect(from: Person, to: Person): Promise<void>;
  /**
   * Sends a connection request from one person to the other. The request goes directly to the platform, not through the faulty
   * proxy.
   */
  request(from: Person, to: Person): Promise<void>;
  suspend(person: Person): Promise<void>;
  fault(fault: Fault): Promise<void>;
  /** Makes the platform unreachable for a time, in ms. */
  downFor(ms: number): Promise<void>;
  /** Ends every connection to the platform. */
  cut(): Promise<void>;
  /** The requests that the proxy has received since the last call of `seen`. */
  seen(): Promise<Seen[]>;
}

/** Where a behaviour runs. */
export interface World {
  url: string;
  projectId: string;
  control: Control;
}
