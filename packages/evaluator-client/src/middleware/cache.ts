import * as z from "zod/mini";
import { elapsedMs } from "../clock.ts";
import { checkOptions, hasMethods, optionsObject } from "../options.ts";
import type { Evaluation } from "../evaluation.ts";
import { isRecord } from "../questions/json.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { checkReply } from "../to-evaluation.ts";
import { type Middleware, type MiddlewareCall, untilAborted } from "../middleware-chain.ts";

/** Where evaluations are kept: a `Map`, or anything with these two methods, in this process or not. */
export interface EvaluationStore {
  /** Returns what was kept under a key, or undefined; every answer in it is checked again. */
  get(key: string): unknown;
  /** Keeps an evaluation, a plain JSON object. */
  set(key: string, evaluation: Evaluation): unknown;
}

/** What to keep, and where. */
export interface CacheOptions {
  /** Where evaluations are kept. @default this process's memory, bounded by `maxEntries` */
  store?: EvaluationStore;
  /** How many evaluations the memory keeps; the one used longest ago goes first. @default 1000 */
  maxEntries?: number;
  /** Called with what the store throws, which costs no answer. @default nobody */
  onStoreError?: (error: unknown) => void;
}

/** What a cache has spared. */
export interface CacheSavings {
  /** Calls answered from the store. */
  hits: number;
  /** Calls that waited for an identical one in flight. */
  joined: number;
  /** Calls that were asked. */
  misses: number;
  /** Input tokens of the calls that were not asked. */
  inputTokens: number;
  /** Price of the calls that were not asked, where it was reported, in US dollars. */
  costUsd: number;
}

/** A middleware that asks nothing twice. */
export type Cache = Middleware & { readonly savings: CacheSavings };

const optionsSchema = optionsObject({
  store: z.optional(z.custom(hasMethods("get", "set"), "it has get and set")),
  maxEntries: z.optional(z.int().check(z.minimum(1))),
  onStoreError: z.optional(z.custom((value) => typeof value === "function", "it is a function")),
});

/**
 * Makes a middleware that asks each question about each state once: it keeps evaluations by the
 * content of the call (transport, address, model, state and questions), and joins identical calls in
 * flight. Failures are not kept. An evaluation from it cost nothing, so its `costUsd` and tokens are
 * 0 and `timing.attempts` is 0; `providerMetadata` and `raw` are those of the first answer.
 *
 * @throws {ConfigurationError} when an option is wrong.
 * @example
 * ```ts
 * const cached = cache();
 * const evaluator = createEvaluator().with(cached);
 * console.log(cached.savings.costUsd);
 * ```
 */
export function cache(options: CacheOptions = {}): Cache {
  checkOptions(optionsSchema, options);
  const { store = new BoundedMemory(options.maxEntries ?? 1000), onStoreError } = options;
  const inFlight = new Map<string, Flight>();
  const savings: CacheSavings = { hits: 0, joined: 0, misses: 0, inputTokens: 0, costUsd: 0 };

  async function quietly<TValue>(use: () => TValue): Promise<Awaited<TValue> | undefined> {
    try {
      return await use();
    } catch (error) {
      onStoreError?.(error);
      return undefined;
    }
  }

  function spare(evaluation: Evaluation, startedAtMs: number, { clock }: MiddlewareCall) {
    savings.inputTokens += evaluation.usage.inputTokens;
    savings.costUsd += evaluation.costUsd ?? 0;
    const totalMs = elapsedMs(clock, startedAtMs);
    return {
      ...structuredClone(evaluation),
      usage: { inputTokens: 0, outputTokens: 0 },
      costUsd: 0,
      timing: { totalMs, providerMs: null, attempts: 0 },
    };
  }

  async function ask(
    key: string,
    request: EvaluationRequest,
    next: (request: EvaluationRequest) => Promise<Evaluation>,
  ): Promise<Outcome> {
    const kept = await quietly(() => store.get(key));
    if (isAnswerTo(request, kept)) return { evaluation: kept, isKept: true };
    savings.misses += 1;
    const evaluation = await next(request);
    await quietly(() => store.set(key, structuredClone(evaluation)));
    return { evaluation, isKept: false };
  }

  const middleware = async (
    request: EvaluationRequest,
    next: (request: EvaluationRequest) => Promise<Evaluation>,
    call: MiddlewareCall,
  ): Promise<Evaluation> => {
    const startedAtMs = call.clock.now();
    const key = await keyOf(request, call);
    for (let other = inFlight.get(key); other !== undefined; other = inFlight.get(key)) {
      const evaluation = await joined(other, call.signal);
      if (evaluation === null) continue;
      savings.joined += 1;
      return spare(evaluation, startedAtMs, call);
    }
    const outcome = ask(key, request, next).finally(() => inFlight.delete(key));
    inFlight.set(key, { outcome, signal: call.signal });
    const { evaluation, isKept } = await outcome;
    if (!isKept) return evaluation;
    savings.hits += 1;
    return spare(evaluation, startedAtMs, call);
  };
  return Object.assign(middleware as Middleware, { savings });
}

interface Outcome {
  readonly evaluation: Evaluation;
  /** Whether it was in the store. */
  readonly isKept: boolean;
}

interface Flight {
  readonly outcome: Promise<Outcome>;
  /** The signal of the call that asks. */
  readonly signal: AbortSignal | undefined;
}

/** Waits for what another call asks; null when that was aborted, which is not this call's end. */
async function joined(
  { outcome, signal: askers }: Flight,
  own: AbortSignal | undefined,
): Promise<Evaluation | null> {
  try {
    return (await untilAborted(outcome, own)).evaluation;
  } catch (error) {
    own?.throwIfAborted();
    if (askers?.aborted) return null;
    throw error;
  }
}

/** Whether what a store returned is an evaluation that answers exactly these questions. */
function isAnswerTo({ questions }: EvaluationRequest, kept: unknown): kept is Evaluation {
  if (!isRecord(kept) || !isRecord(kept["confidence"]) || !isRecord(kept["timing"])) return false;
  try {
    checkReply({ response: kept, modelId: null, requestId: null, raw: kept }, questions);
    return true;
  } catch {
    return false;
  }
}

/** Returns the hash of what decides an answer, as hexadecimal digits. */
async function keyOf(
  { state, questions }: EvaluationRequest,
  { transport, target }: MiddlewareCall,
): Promise<string> {
  // In the order given: the model reads options and keys in that order too.
  const text = JSON.stringify([transport, target ?? null, state, questions]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Keeps the evaluations that were used last. */
class BoundedMemory implements EvaluationStore {
  readonly #maxEntries: number;
  readonly #kept = new Map<string, Evaluation>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: string): Evaluation | undefined {
    const evaluation = this.#kept.get(key);
    if (evaluation === undefined) return undefined;
    this.set(key, evaluation);
    return evaluation;
  }

  set(key: string, evaluation: Evaluation): void {
    this.#kept.delete(key);
    this.#kept.set(key, evaluation);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#maxEntries && oldest !== undefined) this.#kept.delete(oldest);
  }
}
