const FIRST_CAPACITY = 512;

/**
 * Numbers digests in the order in which they first come, from 0. A million take 60 MB, where a Map
 * of their texts takes 150 MB.
 */
export class DigestTable {
  readonly #digestBytes: number;
  #digests: Buffer;
  // A number plus one at the slot its digest begins the search from, or at the next that was free.
  #slots: Uint32Array;
  #size = 0;

  /**
   * @param digestBytes - The length of all digests, at least 4.
   * @param capacity - How many will come, when that is known: room is then made once.
   */
  constructor(digestBytes: number, capacity = FIRST_CAPACITY) {
    this.#digestBytes = digestBytes;
    this.#digests = Buffer.alloc(Math.max(1, capacity) * digestBytes);
    this.#slots = new Uint32Array(slotsFor(capacity));
  }

  /** How many different digests have come. */
  get size(): number {
    return this.#size;
  }

  /** Returns the number of a digest; a new one has the `size` of before. */
  add(digest: Uint8Array): number {
    const slot = this.#slotOf(digest);
    const known = (this.#slots[slot] ?? 0) - 1;
    if (known >= 0) return known;
    if (this.#size * this.#digestBytes === this.#digests.length) {
      this.#grow();
      return this.add(digest);
    }
    this.#digests.set(digest, this.#size * this.#digestBytes);
    this.#size += 1;
    this.#slots[slot] = this.#size;
    return this.#size - 1;
  }

  /** Returns the digest of a number. */
  at(number: number): Buffer {
    const start = number * this.#digestBytes;
    return this.#digests.subarray(start, start + this.#digestBytes);
  }

  // Byte by byte: a view of each digest costs more than what is done with it.
  #slotOf(digest: Uint8Array): number {
    const mask = this.#slots.length - 1;
    let slot = 0;
    for (let at = 0; at < 4; at += 1) slot = (slot << 8) | (digest[at] ?? 0);
    slot &= mask;
    for (let found = this.#slots[slot] ?? 0; found > 0; found = this.#slots[slot] ?? 0) {
      if (this.#holds(digest, found - 1)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #holds(digest: Uint8Array, number: number): boolean {
    const start = number * this.#digestBytes;
    for (let at = 0; at < this.#digestBytes; at += 1) {
      if (digest[at] !== this.#digests[start + at]) return false;
    }
    return true;
  }

  #grow(): void {
    this.#digests = Buffer.concat([this.#digests], this.#digests.length * 2);
    this.#slots = new Uint32Array(slotsFor(this.#size * 2));
    for (let number = 0; number < this.#size; number += 1) {
      this.#slots[this.#slotOf(this.at(number))] = number + 1;
    }
  }
}

// A power of two, of which at most half is taken.
function slotsFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, capacity) * 2));
}

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
