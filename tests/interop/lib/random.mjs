/** A small seeded generator: the same seed gives the same events on every machine. */
export class Random {
  #state;

  /** @param {number} seed any integer */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** A whole number below 2^32. */
  bits() {
    // Weyl sequence, then a multiply-and-shift finaliser.
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }

  /** A whole number from 0 up to, not including, `limit`. */
  below(limit) {
    return Math.floor((this.bits() / 2 ** 32) * limit);
  }

  /** A whole number from `least` to `most`, both included. */
  integer(least, most) {
    return least + this.below(most - least + 1);
  }

  /** True with the given probability. */
  chance(probability) {
    return this.bits() / 2 ** 32 < probability;
  }

  /** @template T @param {readonly T[]} items @returns {T} */
  pick(items) {
    return items[this.below(items.length)];
  }

  /** @template T @param {T[]} items sorted in place into a random order */
  shuffle(items) {
    for (let last = items.length - 1; last > 0; last -= 1) {
      const other = this.below(last + 1);
      [items[last], items[other]] = [items[other], items[last]];
    }
    return items;
  }
}
