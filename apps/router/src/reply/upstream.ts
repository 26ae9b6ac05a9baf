import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { UpstreamType } from "../conversation/to-call-options.ts";
import type { ModelPrice } from "./usage.ts";

/** A service that replies. */
export interface Upstream {
  /** Its name in `router.config.json`, the log and messages. */
  readonly name: string;
  readonly type: UpstreamType;
  /** The environment variable of its key, for messages. */
  readonly keyVariable: string | null;
  /** Sends requests; a redirect is a failure, so that no other origin gets a message. */
  readonly fetch: typeof globalThis.fetch;
  /** Returns a model of the service whose HTTP goes through the given `fetch`. */
  readonly languageModel: (
    model: string,
    fetch: typeof globalThis.fetch,
  ) => LanguageModelV4 | Promise<LanguageModelV4>;
}

/** A model of an upstream. */
export interface Target {
  readonly upstream: Upstream;
  readonly model: string;
  /** A price of the configuration; null takes the price list's. */
  readonly price: ModelPrice | null;
}

/** How a tier replies. */
export interface ReplyPlan {
  /** Asked in turn if one is rejected or fails before its first piece. */
  readonly targets: readonly [Target, ...Target[]];
  /** Further attempts at the last target after a temporary failure. */
  readonly maxRetries: number;
  /** Time to the first piece and between pieces, in milliseconds; 0 for no limit. */
  readonly idleTimeoutMs: number;
  /** Time for the whole reply, in milliseconds; 0 for no limit. */
  readonly timeoutMs: number;
}
