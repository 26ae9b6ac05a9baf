import type { JsonResponse } from "../../../http/http-client.ts";
import { ConfigurationError } from "../../../errors.ts";
import { textAt, valueAt } from "../../../questions/json.ts";
import type { TokenLogprob } from "../read-labels.ts";

/** One prompt whose first answered token is asked for. */
export interface FirstTokenRequest {
  readonly model: string;
  /** The whole user message. */
  readonly prompt: string;
  /** How many tokens to list. */
  readonly depth: number;
  /** The tokens to list in any case, where the server takes ids; else null. */
  readonly tokenIds: readonly LabelToken[] | null;
}

/** One token that stands for a label. */
export interface LabelToken {
  readonly id: number;
  readonly text: string;
}

/** What a server says about the first token of its answer. */
export interface FirstToken {
  readonly tokens: readonly TokenLogprob[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The whole answer. */
  readonly response: JsonResponse;
}

/** Posts JSON to a path of the server and reads its whole answer. */
type Post = (path: string, body: object) => Promise<JsonResponse>;

/** One kind of server: how the first token is asked for, and where it stands in the answer. */
export interface LabelServer {
  /** How deep it can list tokens, shallow first; a further step is taken only where one is needed. */
  readonly depths: readonly number[];
  /** Whether a request can name by id which tokens to list. */
  readonly takesTokenIds: boolean;
  /** What to change there when it gives no log-probabilities. */
  readonly advice: string;
  /** Asks for the first token of the answer to one prompt. */
  ask(request: FirstTokenRequest, post: Post): Promise<FirstToken>;
}

/** Returns a whole number from 0 up at a path, else 0: usage is not what an answer depends on. */
export function countAt(json: unknown, ...path: readonly string[]): number {
  const value = valueAt(json, ...path);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}

/** Throws because the answer holds no log-probabilities, and says what to switch on. */
export function noLogprobs(found: string, advice: string): never {
  const message = `The server ${found}, so there is nothing to read an answer from. ${advice}`;
  throw new ConfigurationError(message, { option: "server" });
}

/** Returns a logarithm as it came; null is what JSON makes of minus infinity, and the rest is none. */
export function toLogprob(value: unknown): number {
  if (value === null) return Number.NEGATIVE_INFINITY;
  return typeof value === "number" ? value : Number.NaN;
}

/** Returns one entry of a list of tokens; what is no number stays none. */
export function toToken(item: unknown): TokenLogprob {
  const logprob = valueAt(item, "logprob");
  return { text: textAt(item, "token") ?? "", logprob: toLogprob(logprob) };
}
