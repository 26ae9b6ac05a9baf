import { HttpError } from "../http-error.ts";
import type { RouterKey } from "./router-key.ts";

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
    const minute = this.#toMinute(name);
    const requests = requestsPerMinute === null ? 1 : requestsPerMinute - minute.requests;
    const tokens = tokensPerMinute === null ? 1 : Math.max(0, tokensPerMinute - minute.tokens);
    const isOver = requests <= 0 || tokens <= 0;
    if (!isOver) minute.requests += 1;
    const remainingText = String(isOver ? requests : requests - 1);
    if (requestsPerMinute !== null) setHeader("x-ratelimit-remaining-requests", remainingText);
    if (tokensPerMinute !== null) setHeader("x-ratelimit-remaining-tokens", String(tokens));
    if (!isOver) return;
    const retryAfter = String(Math.ceil((minute.endsAtMs - this.#now()) / 1000));
    const what = requests <= 0 ? "requests" : "tokens";
    const message = `The key ${name} has no ${what} left in this minute. Try again in ${retryAfter} s.`;
    throw new HttpError(429, message, { retryAfter, code: "rate_limit_exceeded" });
  }

  /** Counts the tokens of a reply at its end. */
  addTokens(name: string, tokens: number): void {
    this.#toMinute(name).tokens += tokens;
  }

  #toMinute(name: string) {
    const currentMinute = this.#minutes.get(name);
    if (currentMinute !== undefined && this.#now() < currentMinute.endsAtMs) return currentMinute;
    const minute = { endsAtMs: this.#now() + 60_000, requests: 0, tokens: 0 };
    this.#minutes.set(name, minute);
    return minute;
  }
}
