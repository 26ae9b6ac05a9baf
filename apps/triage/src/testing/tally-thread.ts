import { TriageError } from "../errors.ts";
import { serveMain } from "../thread/serve-main.ts";

/** An object to be called in a thread: it adds up, refuses, breaks, and ends its thread. */
export class Tally implements Disposable {
  #sum: number;

  constructor(start: number) {
    if (start < 0) throw new TriageError("A tally begins at 0.");
    this.#sum = start;
  }

  add(numbers: readonly number[]): number {
    for (const number of numbers) this.#sum += number;
    return this.#sum;
  }

  async addLater(number: number): Promise<number> {
    return await Promise.resolve(this.add([number]));
  }

  refuse(): never {
    throw new TriageError("Make room and run again.");
  }

  breakDown(): never {
    throw new RangeError("A defect.");
  }

  endThread(): void {
    process.exit();
  }

  [Symbol.dispose](): void {
    if (this.#sum > 1000) throw new Error("Too much to let go of.");
  }
}

serveMain((start: number) => new Tally(start));
