/** So many of a feature's requests are always let through: they find out when its services have room again. */
const least = 32;
/** What is left of the limit after a refusal, and by how much of it a round of answers raises it, beside one. */
const decrease = 0.8;
const increase = 0.005;
/** A limit that was not reached for so long, here or at the service, is none any more; in ms. */
const forgetMs = 10_000;

/**
 * How many requests of a feature may be under way in this gateway: as many as its services take. They turn away what they
 * could not do in time; each time they do, the limit falls below what is under way, and rises again with each answer, as
 * TCP finds how much a line carries (additive increase, multiplicative decrease). What is over it is refused here, for a
 * fraction of what asking would cost (docs/adr/0036).
 */
export class ConcurrencyLimit {
  #limit = Number.POSITIVE_INFINITY;
  #underWay = 0;
  /** Numbers requests; those up to `#heard` tell nothing new when they are turned away. */
  #last = 0;
  #heard = 0;
  #reachedAt = 0;

  /** Whether one more may be asked. */
  admits(): boolean {
    if (this.#underWay < this.#limit) return true;
    this.#reachedAt = performance.now();
    return false;
  }

  /** Whether its services have turned something away lately. */
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
    if (outcome === 'shed') this.#shed(number, underWay);
    else if (this.isLimited && outcome === 'answered') this.#raise(underWay);
  }

  #shed(number: number, underWay: number): void {
    this.#reachedAt = performance.now();
    // Begun before the limit was lowered last.
    if (number <= this.#heard) return;
    this.#heard = this.#last;
    this.#limit = Math.max(least, Math.min(this.#limit, underWay) * decrease);
  }

  #raise(underWay: number): void {
    if (performance.now() - this.#reachedAt > forgetMs) this.#limit = Number.POSITIVE_INFINITY;
    // Where less was asked than may be, nothing is known of more.
    else if (underWay * 2 >= this.#limit) this.#limit += 1 / this.#limit + increase;
  }
}
