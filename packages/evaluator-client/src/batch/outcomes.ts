// With one call that waits for a minute, a fast batch goes on for this many outcomes, about 10 MB.
const MOST_BEHIND = 4096;

/** How a call ended: with an item, with null at the end of the input, or with a failure. */
type Outcome<TItem> =
  | { readonly item: TItem | null; readonly failed: false }
  | { readonly failure: unknown; readonly failed: true };

/** The outcomes of a batch on their way to its consumer, in input order or as the calls end. */
export class Outcomes<TItem> {
  readonly #order: "input" | "completion";
  readonly #signal: AbortSignal;
  /** In input order with a place for each call; else only those that ended. */
  readonly #places: { outcome?: Outcome<TItem> }[] = [];
  #pending = 0;
  /** How many at the front have ended. */
  #ready = 0;
  readonly #failures: unknown[] = [];
  #wake: () => void = () => undefined;

  /** @param signal - Ends the waiting for outcomes: its reason is thrown at once. */
  constructor(order: "input" | "completion", signal: AbortSignal) {
    this.#order = order;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  /**
   * Whether another call may begin: fewer than `readAhead` are in flight or can be taken, and not
   * too many wait behind one that has not ended.
   */
  hasRoom(readAhead: number): boolean {
    const behind = this.#order === "input" ? this.#places.length - this.#pending - this.#ready : 0;
    return this.#pending + this.#ready < readAhead && behind < MOST_BEHIND;
  }

  /** Adds a call that begins. */
  add(call: Promise<TItem | null>): void {
    this.#pending += 1;
    const place: { outcome?: Outcome<TItem> } = {};
    if (this.#order === "input") this.#places.push(place);
    const settle = (outcome: Outcome<TItem>) => {
      this.#pending -= 1;
      place.outcome = outcome;
      this.#settled(place, outcome);
      this.#wake();
    };
    call.then(
      (item) => settle({ item, failed: false }),
      (failure: unknown) => settle({ failure, failed: true }),
    );
  }

  /**
   * Returns the next item, null at the end, or undefined while there is none yet.
   *
   * @throws the failure of a call: in its place, or after all items in the order of completion.
   */
  take(): TItem | null | undefined {
    this.#signal.throwIfAborted();
    if (this.#ready > 0) {
      this.#ready -= 1;
      const outcome = this.#places.shift()?.outcome;
      if (outcome?.failed) throw outcome.failure;
      return outcome?.item;
    }
    if (this.#pending > 0) return undefined;
    if (this.#failures.length > 0) throw this.#failures[0];
    return null;
  }

  /** Waits until a call ends or the signal aborts. */
  change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #settled(place: { outcome?: Outcome<TItem> }, outcome: Outcome<TItem>): void {
    if (this.#order === "input") {
      while (this.#places[this.#ready]?.outcome !== undefined) this.#ready += 1;
    } else if (outcome.failed) this.#failures.push(outcome.failure);
    else if (outcome.item !== null) this.#ready = this.#places.push(place);
  }
}
