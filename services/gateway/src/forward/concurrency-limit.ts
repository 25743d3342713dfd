/** This many of an operation's requests are always let through: they find out when its services have room again. */
const least = 32;
/** After this many answers, the share of refusals among them is judged; more than the bearable share lowers the limit. */
const roundOf = 32;
const bearable = 1 / 4;
/** The factor by which the limit is then lowered, and what each answer adds to it besides `1 / limit`. */
const decrease = 0.8;
const increase = 0.005;
/** The limit is dropped when neither the gateway nor a service has turned a request away for so long; in ms. */
const forgetMs = 10_000;

/**
 * How many requests of an operation may be under way in this gateway: as many as its services can take. The services turn away
 * requests that they could not finish in time. If they turn away many, the limit falls below the number under way. It rises
 * again with each answer: TCP finds in the same way how much a line carries (additive increase, multiplicative decrease). One
 * sick replica of several that turns away everything does not lower the limit for the others. Requests over the limit are
 * refused here, at a fraction of what it would cost to ask a service (docs/adr/0036).
 */
export class ConcurrencyLimit {
  #limit = Number.POSITIVE_INFINITY;
  #underWay = 0;
  /**
   * The number of the last request. Requests up to `#heard` began before the limit was last lowered, so their answers tell
   * nothing new.
   */
  #last = 0;
  #heard = 0;
  #answered = 0;
  #shed = 0;
  #reachedAt = 0;

  /** Whether one more request may be sent. */
  admits(): boolean {
    if (this.#underWay < this.#limit) return true;
    this.#reachedAt = performance.now();
    return false;
  }

  /** Whether its services have turned many requests away lately. */
  get isLimited(): boolean {
    return this.#limit !== Number.POSITIVE_INFINITY;
  }

  /** Counts a request as under way; gives its number for `end`. */
  begin(): number {
    this.#underWay++;
    return ++this.#last;
  }

  /** Notes that a request has ended: with an answer, shed by its service, or failed without an answer. */
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
    // While less than half the limit is under way, nothing shows that more would be possible.
    else if (underWay * 2 >= this.#limit) this.#limit += 1 / this.#limit + increase;
  }
}
