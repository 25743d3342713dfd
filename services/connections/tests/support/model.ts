import type { Action } from '../../src/machine.ts';

/** The state between two users, as a person would note it down. */
interface Note {
  state: 'none' | 'pending' | 'connected' | 'declined';
  requester: number | null;
  connectionId: string | null;
  blockers: Set<number>;
}

export type Move =
  | { do: 'request' | 'remove-with' | 'block' | 'unblock'; by: number; to: number }
  | { do: 'accept' | 'decline' | 'remove'; by: number; of: { one: number; other: number } };

/** The answer that the model expects. */
export interface Foretold {
  status: number;
  code?: string;
  ends?: Action;
}

const refused = (status: number, code: string): Foretold => ({ status, code: `connection/${code}` });
const notFound = refused(404, 'not-found');

/** The rules of spec#connections in the simplest form: a table of notes, without lists, totals or events. */
export class Model {
  readonly #notes = new Map<string, Note>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  between(one: number, other: number): Note {
    const key = [one, other].sort().join();
    const note = this.#notes.get(key) ?? {
      state: 'none',
      requester: null,
      connectionId: null,
      blockers: new Set<number>(),
    };
    this.#notes.set(key, note);
    return note;
  }

  /**
   * Records the outcome of a move, and returns the answer that the model expects. The model cannot know the id of a new
   * request. So the caller has to store it in the note's `connectionId`.
   */
  play(move: Move): Foretold {
    if ('of' in move) return this.#byId(move.do, move.by, move.of);
    const { by, to } = move;
    const note = this.between(by, to);
    if (move.do === 'request') return this.#request(note, by, to);
    if (move.do === 'remove-with') return this.#removeWith(note, by, to);
    if (by === to) return refused(400, 'self-block');
    if (move.do === 'unblock') note.blockers.delete(by);
    else {
      note.blockers.add(by);
      if (note.state !== 'declined') end(note);
    }
    return { status: 204 };
  }

  /** For each list of a user, the users that the list shows. */
  listsOf(user: number): Record<'connected' | 'sent' | 'received' | 'blocks', number[]> {
    const lists = { connected: [], sent: [], received: [], blocks: [] } as ReturnType<Model['listsOf']>;
    for (const other of this.#others(user)) {
      const note = this.between(user, other);
      if (note.state === 'connected') lists.connected.push(other);
      if (note.state === 'pending') lists[note.requester === user ? 'sent' : 'received'].push(other);
      if (note.blockers.has(user)) lists.blocks.push(other);
    }
    return lists;
  }

  /** The users that a user's list of connections shows to somebody else. */
  seenBy(viewer: number, user: number): number[] {
    const isHidden = (one: number) => one !== viewer && this.between(viewer, one).blockers.size > 0;
    if (isHidden(user)) return [];
    return this.listsOf(user).connected.filter((one) => !isHidden(one));
  }

  #others(user: number): number[] {
    return Array.from({ length: this.#size }, (_, at) => at).filter((one) => one !== user);
  }

  #request(note: Note, by: number, to: number): Foretold {
    if (by === to) return refused(400, 'self-request');
    if (note.blockers.size > 0) return refused(403, 'not-allowed');
    if (note.state === 'pending') return refused(409, 'request-pending');
    if (note.state === 'connected') return refused(409, 'already-connected');
    if (note.state === 'declined' && note.requester === by) return refused(409, 'request-declined');
    note.state = 'pending';
    note.requester = by;
    return { status: 201 };
  }

  #removeWith(note: Note, by: number, to: number): Foretold {
    if (by === to) return refused(400, 'self-disconnect');
    if (note.state === 'connected') return end(note, 'disconnect');
    if (note.state !== 'pending') return notFound;
    if (note.requester === by) return end(note, 'withdraw');
    note.state = 'declined';
    return { status: 200, ends: 'decline' };
  }

  #byId(action: 'accept' | 'decline' | 'remove', by: number, of: { one: number; other: number }): Foretold {
    const note = this.between(of.one, of.other);
    if (!note.connectionId || (by !== of.one && by !== of.other)) return notFound;
    if (action === 'remove') {
      if (note.state === 'connected') return end(note, 'disconnect');
      if (note.state !== 'pending') return notFound;
      return note.requester === by ? end(note, 'withdraw') : refused(403, 'unauthorized');
    }
    if (note.state !== 'pending') return notFound;
    if (note.requester === by) return refused(403, 'unauthorized');
    note.state = action === 'accept' ? 'connected' : 'declined';
    return { status: 200 };
  }
}

function end(note: Note, ends?: Action): Foretold {
  note.state = 'none';
  note.requester = null;
  note.connectionId = null;
  return { status: 200, ...(ends ? { ends } : {}) };
}
