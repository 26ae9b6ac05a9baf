import { HttpError } from "../http-error.ts";
import type { RouterKey } from "./router-key.ts";

const MINUTE_MS = 60_000;

/** Counts the requests and tokens of each key by minute, which begins with a first request. */
export class MinuteLimits {
  readonly #minutes = new Map<string, { endsAtMs: number; requests: number; tokens: number }>();
  readonly #now: () => number;

  /** Takes a clock that is never set, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a request, and sets the headers of its answer. @throws HttpError (429) */
  take(
    { name, requestsPerMinute, tokensPerMinute }: RouterKey,
    setHeader: (name: string, value: string) => void,
  ): void {
    const minute = this.#minuteOf(name);
    const requests = (requestsPerMinute ?? Infinity) - minute.requests;
    const tokens = (tokensPerMinute ?? Infinity) - minute.tokens;
    const isOver = requests <= 0 || tokens <= 0;
    if (!isOver) minute.requests += 1;
    const left = { requests: isOver ? requests : requests - 1, tokens };
    for (const [what, count] of Object.entries(left)) {
      const value = String(Math.max(0, count));
      if (count !== Infinity) setHeader(`x-ratelimit-remaining-${what}`, value);
    }
    if (!isOver) return;
    const seconds = String(Math.ceil((minute.endsAtMs - this.#now()) / 1000));
    const limit = requests <= 0 ? `${requestsPerMinute} requests` : `${tokensPerMinute} tokens`;
    const message = `The key ${name} has used its ${limit} of this minute. Try again in ${seconds} s.`;
    throw new HttpError(429, message, { retryAfter: seconds, code: "rate_limit_exceeded" });
  }

  /** Counts the tokens of a reply at its end. */
  addTokens(name: string, tokens: number): void {
    this.#minuteOf(name).tokens += tokens;
  }

  #minuteOf(name: string) {
    const known = this.#minutes.get(name);
    if (known !== undefined && this.#now() < known.endsAtMs) return known;
    const minute = { endsAtMs: this.#now() + MINUTE_MS, requests: 0, tokens: 0 };
    this.#minutes.set(name, minute);
    return minute;
  }
}
