import { ConfigurationError } from "./errors.ts";

/** The calls in flight, until the evaluator is closed and they are over. */
export class OpenCalls {
  readonly #closeTransport: () => Promise<void> | undefined;
  #count = 0;
  #closed: Promise<void> | null = null;
  #onLast: () => void = () => undefined;

  constructor(closeTransport: () => Promise<void> | undefined) {
    this.#closeTransport = closeTransport;
  }

  /** @throws ConfigurationError when no call may begin any more. */
  checkOpen(): void {
    if (this.#closed === null) return;
    const message = "The evaluator is closed; make another one with createEvaluator.";
    throw new ConfigurationError(message, { option: "close" });
  }

  begin(): void {
    this.checkOpen();
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onLast();
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAfterLast();
    return this.#closed;
  }

  async #closeAfterLast(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onLast = resolve));
    await this.#closeTransport();
  }
}
