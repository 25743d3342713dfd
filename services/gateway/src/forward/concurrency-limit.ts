/** So many of an operation's requests are always let through: they find out when its services have room again. */
const least = 32;
/** Of so many answers one after the other it is looked at how many were refusals; a larger share than this lowers the limit. */
const roundOf = 32;
const bearable = 1 / 4;
/** What is left of the limit then, and by how much of it a round of answers raises it, beside one. */
const decrease = 0.8;
const increase = 0.005;
/** A limit that was not reached for so long, here or at the service, is none any more; in ms. */
const forgetMs = 10_000;

/**
 * How many requests of an operation may be under way in this gateway: as many as its services take. They turn away what they could
 * not do in time; where they do so with many, the limit falls below what is under way, and rises again with each answer, as
 * TCP finds how much a line carries (additive increase, multiplicative decrease). One of several replicas that turns away all
 * it gets, as it is sick, lowers it for none of the others. What is over the limit is refused here, for a fraction of what
 * asking would cost (docs/adr/0036).
 */
export class ConcurrencyLimit {
  #limit = Number.POSITIVE_INFINITY;
  #underWay = 0;
  /** Numbers requests; those up to `#heard` were begun before the limit was lowered last, and tell nothing new. */
  #last = 0;
  #heard = 0;
  #answered = 0;
  #shed = 0;
  #reachedAt = 0;

  /** Whether one more may be asked. */
  admits(): boolean {
    if (this.#underWay < this.#limit) return true;
    this.#reachedAt = performance.now();
    return false;
  }

  /** Whether its services have turned much away lately. */
  get isLimited(): boolean {
    return this.#limit !== Number.POSITIVE_INFINITY;
  }

  /** Counts a request from here on; gives its number for `end`. */
  begin(): number {
    this.#underWay++;
    return ++this.#last;
  }

  /** A request has ended: with an answer, shed by its service, or with none. */
  end(number: number, outcome: 'answered' | 'shed' | 'failed'): void {
    const underWay = this.#underWay--;
    if (outcome === 'failed') return;
    if (outcome === 'shed') this.#reachedAt = performance.now();
    else if (this.isLimited) this.#raise(underWay);
    if (number > this.#heard) this.#look(outcome, underWay);
  }

  #look(outcome: 'answered' | 'shed', underWay: number): void {
    if (outcome === 'shed') this.#shed++;
    else this.#answered++;
    const all = this.#answered + this.#shed;
    if (all < roundOf) return;
    if (this.#shed > all * bearable) {
      this.#heard = this.#last;
      this.#limit = Math.max(least, Math.min(this.#limit, underWay) * decrease);
    }
    this.#answered = 0;
    this.#shed = 0;
  }

  #raise(underWay: number): void {
    if (performance.now() - this.#reachedAt > forgetMs) this.#limit = Number.POSITIVE_INFINITY;
    // Where less was asked than may be, nothing is known of more.
    else if (underWay * 2 >= this.#limit) this.#limit += 1 / this.#limit + increase;
  }
}
