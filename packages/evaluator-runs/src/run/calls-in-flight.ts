/** A chunk, and its calls in flight. */
interface BegunChunk {
  inFlight: number;
}

/** The calls of a worker that are in flight, and who waits for one to end. */
export class CallsInFlight {
  count = 0;
  /** Of these, the ones that wait for money to be tried again. */
  #waiting = 0;
  #freed = Promise.withResolvers<void>();
  /** The chunks whose calls have all begun, and that are not finished. */
  readonly #begunChunks = new Set<BegunChunk>();

  /** Resolves when the next call or chunk has ended. */
  get nextEnd(): Promise<void> {
    return this.#freed.promise;
  }

  begin(begunChunk: BegunChunk): void {
    this.count += 1;
    begunChunk.inFlight += 1;
  }

  end(begunChunk: BegunChunk): void {
    this.count -= 1;
    begunChunk.inFlight -= 1;
    this.#free();
  }

  /** Notes that all calls of a chunk have begun. */
  chunkBegun(begunChunk: BegunChunk): void {
    this.#begunChunks.add(begunChunk);
  }

  chunkFinished(begunChunk: BegunChunk): void {
    this.#begunChunks.delete(begunChunk);
    this.#free();
  }

  /** Waits for a call or a chunk to end, which cost less than the most; returns false if there is none. */
  async waitForMoney(): Promise<boolean> {
    const isEnding = [...this.#begunChunks].some(({ inFlight }) => inFlight === 0);
    if (this.count === this.#waiting && !isEnding) return false;
    await this.nextEnd;
    return true;
  }

  /** As {@link CallsInFlight.waitForMoney}, for a call in flight that is to be tried again. */
  async waitToTryAgain(): Promise<boolean> {
    this.#waiting += 1;
    return await this.waitForMoney().finally(() => (this.#waiting -= 1));
  }

  #free(): void {
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }
}
