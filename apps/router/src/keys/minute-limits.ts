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
    setHeader: (headerName: string, headerValue: string) => void,
  ): void {
    const keyMinute = this.#toMinute(name);
    const requestsLeft = requestsPerMinute === null ? 1 : requestsPerMinute - keyMinute.requests;
    const tokens = tokensPerMinute === null ? 1 : Math.max(0, tokensPerMinute - keyMinute.tokens);
    const isOver = requestsLeft <= 0 || tokens <= 0;
    if (!isOver) keyMinute.requests += 1;
    const remainingText = String(isOver ? requestsLeft : requestsLeft - 1);
    if (requestsPerMinute !== null) setHeader("x-ratelimit-remaining-requests", remainingText);
    if (tokensPerMinute !== null) setHeader("x-ratelimit-remaining-tokens", String(tokens));
    if (!isOver) return;
    const retryAfter = String(Math.ceil((keyMinute.endsAtMs - this.#now()) / 1000));
    const limitedThing = requestsLeft <= 0 ? "requests" : "tokens";
    const message = `The key ${name} has no ${limitedThing} left in this minute. Try again in ${retryAfter} s.`;
    throw new HttpError(429, message, { retryAfter, code: "rate_limit_exceeded" });
  }

  /** Counts the tokens of a reply at its end. */
  addTokens(keyName: string, tokenCount: number): void {
    this.#toMinute(keyName).tokens += tokenCount;
  }

  #toMinute(keyName: string) {
    const currentMinute = this.#minutes.get(keyName);
    if (currentMinute !== undefined && this.#now() < currentMinute.endsAtMs) return currentMinute;
    const newMinute = { endsAtMs: this.#now() + 60_000, requests: 0, tokens: 0 };
    this.#minutes.set(keyName, newMinute);
    return newMinute;
  }
}
