/**
 * The lowest limit. For each operation, this number of requests always gets through. The answers to these requests show when
 * the services can take more requests again.
 */
const least = 32;
/** How many answers make a round. If the share of refusals in a round is over `bearable`, the limit falls. */
const roundOf = 32;
const bearable = 1 / 4;
/**
 * When the limit falls, it is multiplied by `decrease`. When it rises, each answer adds the sum of `1 / limit` and `increase`.
 */
const decrease = 0.8;
const increase = 0.005;
/** If neither the gateway nor a service has turned a request away for this many ms, the limit is removed. */
const forgetMs = 10_000;

/**
 * Limits how many requests of an operation may be under way in this gateway. The limit adapts to the capacity of the services.
 * The services turn away requests that they could not finish in time. If they turn away many requests, the limit falls below
 * the number of requests under way. After that, the limit rises again with each answer. TCP adapts to the capacity of a line in
 * the same way (additive increase, multiplicative decrease). If only one of many replicas is in trouble and turns away
 * everything, the limit does not fall. The gateway itself refuses requests over the limit. Such a refusal costs much less than
 * asking a service (docs/adr/0036).
 */
export class ConcurrencyLimit {
  #limit = Number.POSITIVE_INFINITY;
  #underWay = 0;
  /**
   * The number of the newest request. Requests up to `#heard` began before the limit was last lowered. So their answers say
   * nothing about the new limit.
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

  /** Whether the operation's services have turned many requests away lately. */
  get isLimited(): boolean {
    return this.#limit !== Number.POSITIVE_INFINITY;
  }

  /** Counts a request as under way. Returns the request's number, which `end` takes. */
  begin(): number {
    this.#underWay++;
    return ++this.#last;
  }

  /**
   * Notes that a request has ended. The request was answered, was turned away by its service (`shed`), or failed without an
   * answer.
   */
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
    // While less than half the limit is in use, an answer does not show that a higher limit would work.
    else if (underWay * 2 >= this.#limit) this.#limit += 1 / this.#limit + increase;
  }
}
