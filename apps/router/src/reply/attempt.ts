import { setImmediate } from "node:timers/promises";
import type { Clock } from "evaluator-client";
import type { ReplyListener } from "./reply-piece.ts";

interface AttemptOptions {
  readonly listener: ReplyListener;
  readonly isWhole?: boolean | undefined;
  /** The client's signal. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** 0 for no limit. */
  readonly idleTimeoutMs: number;
  /** When the whole reply has to end; infinite without a limit. */
  readonly endsAtMs: number;
}

/** A request for a reply. It passes pieces on, and ends the request at a time limit. */
export class Attempt {
  readonly #options: AttemptOptions;
  readonly #abortController = new AbortController();
  #cancel: () => void = () => undefined;
  #heardAtMs: number;
  #isOver = false;
  readonly signal = this.#abortController.signal;
  readonly #onAbort = () => this.#abortController.abort(this.#options.signal.reason);
  /** The limit that ended the request. */
  limit: "idle-timeout" | "timeout" | null = null;
  /** Whether the client has received a part of the reply. */
  hasBegun = false;

  constructor(options: AttemptOptions) {
    this.#options = options;
    if (options.signal.aborted) this.#onAbort();
    options.signal.addEventListener("abort", this.#onAbort); // cheaper than AbortSignal.any
    this.#heardAtMs = options.clock.now();
    this.#watch();
  }

  send(replyPart: Parameters<ReplyListener>[0]): void | Promise<void> {
    if (replyPart.length === 0 || this.#isOver) return undefined;
    this.hasBegun = true;
    const pendingListener = this.#options.listener(replyPart);
    if (pendingListener === undefined) return this.hear();
    this.#heardAtMs = Infinity; // a client that reads slowly is no silence of the service
    return pendingListener.then(() => this.hear());
  }

  /** Sends the pieces so far, or notes that the service is not silent if they are sent at the end. */
  pass(replyPieces: { take(): Parameters<ReplyListener>[0] }): void | Promise<void> {
    return this.#options.isWhole === true ? this.hear() : this.send(replyPieces.take());
  }

  /** Notes that the service is not silent. */
  hear(): void {
    this.#heardAtMs = this.#options.clock.now();
  }

  /** Aborts the call, which a failure may leave open. */
  abort(): void {
    this.#abortController.abort(endedError);
  }

  /** Removes the timer and the listener. Later parts are not sent. */
  end(): void {
    this.#isOver = true;
    this.#cancel();
    this.#options.signal.removeEventListener("abort", this.#onAbort);
  }

  /** One timer for all pieces: a timer for each would cost more than the rest of its way. */
  #watch(): void {
    const { clock, endsAtMs, idleTimeoutMs } = this.#options;
    const idleMs = idleTimeoutMs || Infinity;
    const leftMs = endsAtMs - clock.now();
    const quietMs = this.#heardAtMs + idleMs - clock.now();
    if (leftMs <= 0) this.#stop("timeout");
    else if (quietMs <= 0) this.#stop("idle-timeout");
    else {
      const nextMs = Math.min(leftMs, quietMs, idleMs);
      if (nextMs < Infinity) this.#cancel = clock.schedule(nextMs, () => this.#watch());
    }
  }

  #stop(reachedLimit: NonNullable<Attempt["limit"]>): void {
    this.limit = reachedLimit;
    this.#abortController.abort(new DOMException("The reply model took too long.", "TimeoutError"));
  }
}

const endedError = new DOMException("The attempt is over.", "AbortError");
let lastTurn: Promise<unknown> = Promise.resolve();

/** Lets one large chunk or new call pass per round of the event loop: 500 calls at once would block it for 0.7 s. */
export function turn(): Promise<unknown> {
  lastTurn = lastTurn.then(setImmediate);
  return lastTurn;
}
