/** A generator of random numbers in [0, 1). The same seed gives the same numbers, so that every run makes the same requests. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // This is the algorithm mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Picks from `count` items by Zipf's law with exponent 1. The first item is picked twice as often as the second, and three
 * times as often as the third.
 */
export function zipf(count: number, random: () => number): () => number {
  const upTo: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= count; rank++) {
    sum += 1 / rank;
    upTo.push(sum);
  }
  return () => {
    const wanted = random() * sum;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((upTo[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** A UUID made from the generator's numbers. */
export function seededUuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
}
