import { Key } from './key.ts';
import type { Person, Scene } from './person.ts';

/** The relation between two people. `by` is the person who asked. */
export type Standing =
  | { is: 'none' }
  | { is: 'pending' | 'declined' | 'connected'; by: Person; connectionId: string };

/** A request that changes a standing, and the type of the event that announces the change. */
interface Move {
  event: string;
  method: string;
  path: string;
  token: string;
  /**
   * The standing after the change. `connectionId` is the id in the answer, or the id of the current connection if the answer
   * has none.
   */
  to(connectionId: string): Standing;
}

/** Two people. They ask each other for a connection, accept, decline or withdraw the request, and end the connection. */
export class Pair extends Key {
  readonly scene: Scene;
  readonly people: readonly [Person, Person];
  standing: Standing = { is: 'none' };
  /** The types of the events of all acknowledged changes, in order. */
  readonly told: string[] = [];
  /** How many changes had an unknown outcome when they were tried. */
  unsure = 0;

  constructor(scene: Scene, people: readonly [Person, Person]) {
    super();
    this.scene = scene;
    this.people = people;
  }

  /** The id of the pair's aggregate. */
  get id(): string {
    return this.people
      .map(({ id }) => id)
      .toSorted()
      .join(':');
  }

  async act(): Promise<void> {
    if (this.unsureUntil !== undefined || this.scene.random() < 0.4) return this.learn();
    const { ask, record } = this.scene;
    const { method, path, token, event, to } = this.#move();
    const body = method === 'POST' ? {} : undefined;
    const answer = await ask('connections', method, path, { token, body });
    if (answer.isOk) {
      record().acknowledged += 1;
      const id = answer.body.id ?? ('connectionId' in this.standing ? this.standing.connectionId : '');
      this.standing = to(id);
      this.told.push(event);
    } else if (answer.isCertain && answer.status !== 503) {
      record().wrong.push(`${event} of ${this.standing.is}: ${answer.status} ${answer.body?.code}`);
    } else if (!answer.isCertain) {
      this.unsure += 1;
      this.beUnsure();
    }
  }

  #move(): Move {
    const { standing } = this;
    const [one, other] = this.scene.random() < 0.5 ? this.people : [this.people[1], this.people[0]];
    const chance = this.scene.random();
    const request = (by: Person, of: Person): Move => ({
      event: 'connection.requested',
      method: 'POST',
      path: `/users/${of.id}/connection`,
      token: by.accessToken,
      to: (connectionId) => ({ is: 'pending', by, connectionId }),
    });
    if (standing.is === 'none') return request(one, other);
    const { by, connectionId } = standing;
    const receiver = by === one ? other : one;
    if (standing.is === 'declined') return request(receiver, by);
    const parting = {
      method: 'DELETE',
      path: `/connections/${connectionId}`,
      to: () => ({ is: 'none' }) as const,
    };
    if (standing.is === 'connected') {
      return { ...parting, event: 'connection.disconnected', token: one.accessToken };
    }
    if (chance < 0.2) return { ...parting, event: 'connection.withdrawn', token: by.accessToken };
    const isAccepted = chance < 0.8;
    return {
      event: isAccepted ? 'connection.accepted' : 'connection.declined',
      method: 'PATCH',
      path: `/connections/${connectionId}/${isAccepted ? 'accept' : 'decline'}`,
      token: receiver.accessToken,
      to: (id) => ({ is: isAccepted ? 'connected' : 'declined', by, connectionId: id }),
    };
  }

  /**
   * Reads the standing of the two people. If the outcome of the last change is unknown, takes the standing that was read as the
   * expected standing. Otherwise compares the two standings.
   */
  async learn(): Promise<void> {
    const { ask, record } = this.scene;
    const [one, other] = this.people;
    const answer = await ask('connections', 'GET', `/users/${other.id}/connection`, {
      token: one.accessToken,
    });
    if (!answer.isCertain || answer.status === 503) return;
    const found = answer.body ?? {};
    if (this.unsureUntil !== undefined) {
      this.standing = this.#standingOf(found);
    } else if (found.status !== this.standing.is) {
      record().wrong.push(`two people are ${found.status ?? answer.status}, not ${this.standing.is}`);
    }
    this.unsureUntil = undefined;
  }

  #standingOf(found: { status: string; type?: 'sent' | 'received'; connectionId: string }): Standing {
    const [one, other] = this.people;
    const { status, type, connectionId } = found;
    if (status === 'none') return { is: 'none' };
    // The answer about a connected pair does not say who of the two people asked. So this method takes the person who asked
    // from the last known standing.
    const before = 'by' in this.standing ? this.standing.by : one;
    const by = type === undefined ? before : type === 'sent' ? one : other;
    return { is: status as 'pending', by, connectionId };
  }
}
