/** Counts of what passed and what did not. */

/** Failures shown in full, per check. */
const SHOWN = 10;

export class Report {
  #passed = 0;
  #failed = 0;

  /**
   * Runs one check on each item and prints its counts.
   *
   * @template T
   * @param {string} title
   * @param {T[]} items
   * @param {(item: T, index: number) => string | undefined} check what is wrong, if anything
   */
  check(title, items, check) {
    const failures = items.map(check).filter((failure) => failure !== undefined);
    this.#passed += items.length - failures.length;
    this.#failed += failures.length;
    console.log(`${title}: ${items.length - failures.length} passed, ${failures.length} failed`);
    for (const failure of failures.slice(0, SHOWN)) console.log(`  ${failure}`);
    if (failures.length > SHOWN) console.log(`  and ${failures.length - SHOWN} more`);
  }

  /** Prints the sum. @returns {boolean} whether nothing failed */
  finish() {
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    return this.#failed === 0;
  }
}
