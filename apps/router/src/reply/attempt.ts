import type { Clock } from "evaluator-client";
import type { ReplyListener } from "./reply-listener.ts";
import type { ReplyPiece } from "./reply-piece.ts";

interface AttemptOptions {
  readonly listener: ReplyListener;
  /** The client's signal. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** 0 for no limit. */
  readonly idleTimeoutMs: number;
  /** The rest of the time for the whole reply; null for no limit. */
  readonly leftMs: number | null;
}

/** One request for a reply: passes on what is received, and ends the request at a time limit. */
export class Attempt {
  readonly #options: AttemptOptions;
  readonly #controller = new AbortController();
  readonly #cancels: (() => void)[] = [];
  #cancelIdle: () => void = () => undefined;
  #heardAtMs: number;
  /** The limit that ended the request. */
  limit: "idle-timeout" | "timeout" | null = null;
  /** Whether the client has received a part of the reply. */
  hasBegun = false;

  constructor(options: AttemptOptions) {
    this.#options = options;
    const { signal, clock, idleTimeoutMs, leftMs } = options;
    const onAbort = () => this.#controller.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#cancels.push(() => signal.removeEventListener("abort", onAbort));
    if (leftMs !== null) this.#cancels.push(clock.schedule(leftMs, () => this.#stop("timeout")));
    this.#heardAtMs = clock.now();
    if (idleTimeoutMs > 0) this.#watch(idleTimeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  sendPieces(pieces: readonly ReplyPiece[]): void | Promise<void> {
    if (pieces.length > 0) return this.#heard(this.#options.listener.onPieces(pieces));
  }

  sendBytes(text: string): void | Promise<void> {
    if (text !== "") return this.#heard(this.#options.listener.onBytes(text));
  }

  /** Removes the timers. */
  end(): void {
    for (const cancel of [...this.#cancels, this.#cancelIdle]) cancel();
  }

  /** A client that reads slowly is no silence of the service. */
  #heard(waiting: void | Promise<void>): void | Promise<void> {
    this.hasBegun = true;
    this.#heardAtMs = waiting === undefined ? this.#options.clock.now() : Infinity;
    return waiting?.then(() => this.#heard());
  }

  /** One timer for all pieces: a timer for each would cost more than the rest of its way. */
  #watch(afterMs: number): void {
    const { clock, idleTimeoutMs } = this.#options;
    const check = () => {
      const leftMs = this.#heardAtMs + idleTimeoutMs - clock.now();
      if (leftMs > 0) this.#watch(Math.min(leftMs, idleTimeoutMs));
      else this.#stop("idle-timeout");
    };
    this.#cancelIdle = clock.schedule(afterMs, check);
  }

  #stop(limit: NonNullable<Attempt["limit"]>): void {
    this.limit = limit;
    this.#controller.abort(new DOMException("The reply model took too long.", "TimeoutError"));
  }
}
