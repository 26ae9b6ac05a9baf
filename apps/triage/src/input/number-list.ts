/** A list of whole numbers from 0 to 4,294,967,295 in half the memory of an array, which a million need. */
export class NumberList {
  #numbers: Uint32Array;
  #length = 0;

  /** @param capacity - How many will come, when that is known: room is then made once. */
  constructor(capacity = 1024) {
    this.#numbers = new Uint32Array(Math.max(1, capacity));
  }

  /** How many numbers there are. */
  get length(): number {
    return this.#length;
  }

  /** Adds a number at the end. */
  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  /** Returns the number at an index; 0 beyond the end. */
  at(index: number): number {
    return this.#numbers[index] ?? 0;
  }

  /** Adds 1 to the number at an index, or adds a 1 at the end; returns what was there before. */
  increase(index: number): number {
    if (index === this.#length) this.push(0);
    const before = this.at(index);
    this.#numbers[index] = before + 1;
    return before;
  }
}
