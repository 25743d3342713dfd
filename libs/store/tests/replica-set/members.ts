import type { Id, Stored } from './documents.ts';

/** A log entry: the write of one document; `document: null` is a removal. */
export interface Entry {
  term: number;
  collection: string;
  id: Id;
  document: Stored | null;
  /**
   * The command and the statement that made the entry. If the command is sent again, the member finds this text and does not
   * execute the command again.
   */
  statement: string;
}

/** Documents by collection and `_id`. */
export type Data = Map<string, Map<Id, Stored>>;

/** The error of a command if its member stops being the primary while the command waits for a majority. */
export class SteppedDown extends Error {}

/** A member of a replica set. It may have entries that a majority does not have. Such entries may be rolled back. */
export class Member {
  readonly log: Entry[] = [];
  /** The data after all entries of `log`. */
  head: Data = new Map();
  /** The data after the first `commit` entries of `log`. */
  readonly committed: Data = new Map();
  /**
   * How many entries at the start of `log` a majority has, as far as this member knows. These entries are never rolled back.
   */
  commit = 0;
  /** Whether this member believes that it has been the primary since the election of `term`. */
  isPrimary = false;
  term = 0;
  /** Whether this member is cut off from all other members. */
  isCut = false;
  #waiting: { upTo: number; resolve: () => void; reject: (reason: Error) => void }[] = [];

  append(entries: readonly Entry[]): void {
    this.log.push(...entries);
    for (const entry of entries) put(this.head, entry);
  }

  /** Resolves as soon as a majority has the first `upTo` entries of the log. */
  majority(upTo: number): Promise<void> {
    if (upTo <= this.commit) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiting.push({ upTo, resolve, reject }));
  }

  knows(commit: number): void {
    for (; this.commit < commit; this.commit++) put(this.committed, this.log[this.commit] as Entry);
    for (const { resolve } of this.#waiting.filter(({ upTo }) => upTo <= commit)) resolve();
    this.#waiting = this.#waiting.filter(({ upTo }) => upTo > commit);
  }

  stepDown(): void {
    this.isPrimary = false;
    for (const { reject } of this.#waiting) reject(new SteppedDown());
    this.#waiting = [];
  }

  /** Rolls back all but the first `to` entries. */
  rollBack(to: number): void {
    if (to < this.commit) throw new Error('The model rolled back entries that a majority has.');
    this.log.length = to;
    this.head = new Map();
    for (const entry of this.log) put(this.head, entry);
  }
}

/**
 * A set of three members, of which two are a majority. The primary replicates to the others. If two members have an entry of
 * the primary's term, the entry is committed. In a failover, the primary is cut off. For a while, it does not know that another
 * primary was elected. It continues to read and write, but its writes reach no majority. They are rolled back when it rejoins.
 */
export class ReplicaSet {
  readonly members = [new Member(), new Member(), new Member()] as const;
  #leader: Member = this.members[0];

  constructor() {
    this.#lead(this.members[0], 1);
  }

  /** The member that was elected last. */
  get leader(): Member {
    return this.#leader;
  }

  /** Gives a member the next entries of the primary's log, and tells the member how many entries a majority has. */
  replicate(member: Member, most = Number.POSITIVE_INFINITY): void {
    const leader = this.#leader;
    if (member === leader || member.isCut) return;
    let common = Math.min(member.log.length, leader.log.length);
    while (common > 0 && member.log[common - 1] !== leader.log[common - 1]) common--;
    if (common < member.log.length) member.rollBack(common);
    member.append(leader.log.slice(common, common + most));
    this.#commit();
    member.knows(Math.min(leader.commit, member.log.length));
  }

  /** Replicates everything to all members that are not cut off. */
  replicateAll(): void {
    // The first pass commits the entries. In the second pass, all members learn that the entries are committed.
    for (const member of [...this.members, ...this.members]) this.replicate(member);
  }

  /**
   * Cuts off the primary, and elects one of the other two members. The member whose log ends with the higher term is elected.
   * If both logs end with the same term, the member with more entries is elected.
   */
  failOver(): void {
    this.rejoin();
    this.#leader.isCut = true;
    const [one, other] = this.members.filter(({ isCut }) => !isCut) as [Member, Member];
    const [mine, yours] = [one.log.at(-1)?.term ?? 0, other.log.at(-1)?.term ?? 0];
    const isFirst = mine === yours ? one.log.length >= other.log.length : mine > yours;
    this.#lead(isFirst ? one : other, this.#leader.term + 1);
  }

  /** Lets the members that were cut off learn of the election. They roll back entries that the primary does not have. */
  rejoin(): void {
    for (const member of this.members.filter(({ isCut }) => isCut)) {
      member.isCut = false;
      member.stepDown();
      this.replicate(member, 0);
    }
  }

  #lead(member: Member, term: number): void {
    member.isPrimary = true;
    member.term = term;
    this.#leader = member;
    // With this first entry of its own term, the new primary also commits the entries of earlier terms.
    member.append([{ term, collection: '', id: '', document: null, statement: '' }]);
  }

  #commit(): void {
    const leader = this.#leader;
    for (let at = leader.log.length; at > leader.commit; at--) {
      const entry = leader.log[at - 1] as Entry;
      if (entry.term !== leader.term) return;
      if (this.members.filter(({ log }) => log[at - 1] === entry).length < 2) continue;
      leader.knows(at);
      return;
    }
  }
}

function put(data: Data, { collection, id, document }: Entry): void {
  let documents = data.get(collection);
  if (!documents) {
    documents = new Map();
    data.set(collection, documents);
  }
  if (document) documents.set(id, document);
  else documents.delete(id);
}
