import * as z from "zod/mini";
import { elapsedMs, untilAborted } from "../clock.ts";
import { EvaluatorError, TimeoutError } from "../errors.ts";
import { quietly } from "../logger.ts";
import { checkOptions, objectWith, optionsNamed, optionsObject } from "../options.ts";
import { checkReply, type Evaluation } from "../evaluation.ts";
import { isRecord, valueAt } from "../questions/json.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import type { Middleware, MiddlewareCall } from "../evaluator.ts";

/** Stores evaluations: a `Map`, or any object with these two methods, in this process or not. */
export interface EvaluationStore {
  /** Returns the value of a key, or undefined. Its answers are checked again. */
  get(cacheKey: string): unknown;
  /** Stores an evaluation, a plain JSON object. */
  set(cacheKey: string, storedEvaluation: Evaluation): unknown;
}

/** Options of {@link cache}. */
export interface CacheOptions {
  /** Stores the evaluations. @default this process's memory, bounded by `maxEntries` */
  store?: EvaluationStore | undefined;
  /** How many evaluations the memory keeps; the least recently used one is removed first. @default 1000 */
  maxEntries?: number | undefined;
  /** Called with the errors of the store, which cost no answer. @default none */
  onStoreError?: ((error: unknown) => void) | undefined;
}

/** Parts of the platform that a cache uses; tests pass their own. */
export interface CacheRuntime {
  /** Hashes bytes with SHA-256. @default crypto.subtle.digest */
  sha256?: ((bytes: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>) | undefined;
}

/** Counts of a cache's calls. */
export interface CacheSavings {
  /** Calls answered from the store. */
  hits: number;
  /** Calls that waited for an identical one in flight. */
  joined: number;
  /** Calls that were asked. */
  misses: number;
  /** Input tokens that the hits and joined calls saved. */
  inputTokens: number;
  /** The reported price of the hits and joined calls, in US dollars. */
  costUsd: number;
}

/** A middleware that asks nothing twice. */
export type Cache = Middleware & { readonly savings: CacheSavings };

const optionsSchema = optionsObject({
  store: z.optional(objectWith("it has get and set", "get", "set")),
  maxEntries: z.optional(z.int().check(z.minimum(1))),
  onStoreError: z.optional(z.custom((value) => typeof value === "function", "it is a function")),
});

/**
 * Makes a middleware that asks each question about each state once: it stores evaluations by the
 * content of the call (transport, address, model, state and questions), and joins identical calls in
 * flight. Failures are not stored. A stored evaluation has a `costUsd`, tokens and `timing.attempts` of
 * 0; `providerMetadata` and `raw` are those of the first answer.
 *
 * @throws {ConfigurationError} when an option is wrong.
 * @example
 * ```ts
 * const cached = cache();
 * const evaluator = createEvaluator().with(cached);
 * console.log(cached.savings.costUsd);
 * ```
 */
export function cache(options: CacheOptions = {}, runtime: CacheRuntime = {}): Cache {
  checkOptions(optionsSchema, options);
  checkOptions(optionsNamed("sha256"), runtime);
  const { sha256 = (bytes) => crypto.subtle.digest("SHA-256", bytes) } = runtime;
  const { maxEntries = 1000, store = boundedMemory(maxEntries), onStoreError } = options;
  const savings: CacheSavings = { hits: 0, joined: 0, misses: 0, inputTokens: 0, costUsd: 0 };
  const inFlight = new Map<string, Flight>();

  /** Uses the store until the call ends; a store that fails or does not answer costs no answer. */
  async function useStore<TValue>(signal: AbortSignal | undefined, operation: () => TValue) {
    try {
      return await untilAborted((async () => await operation())(), signal);
    } catch (storeError) {
      quietly({ onStoreError }, "onStoreError", storeError);
      return undefined;
    }
  }

  async function askAndStore(cacheKey: string, request: EvaluationRequest, askingCall: Asking) {
    const storedValue = await useStore(askingCall.signal, () => store.get(cacheKey));
    if (storedValue && isAnswerTo(request, storedValue))
      return { evaluation: storedValue, isStored: true };
    savings.misses += 1;
    const evaluation = await askingCall.next(request);
    // The caller may change the evaluation while others still wait for theirs.
    const keptEvaluation = structuredClone(evaluation);
    // An answer that waits for a better one is not kept in its place.
    const isFailed = Object.values(evaluation.route ?? {}).some(({ failure }) => failure !== null);
    if (!isFailed) await useStore(askingCall.signal, () => store.set(cacheKey, keptEvaluation));
    return { evaluation, keptEvaluation, isStored: false };
  }

  async function evaluate(
    request: EvaluationRequest,
    nextMiddleware: Next,
    call: MiddlewareCall,
  ): Promise<Evaluation> {
    const { clock, transport, target, providerOptions } = call;
    const startedAtMs = clock.now();
    // Keys are not sorted: the model reads options and keys in this order too.
    const keyParts = [transport, target ?? null, request.state, request.questions];
    const allKeyParts = providerOptions === undefined ? keyParts : [...keyParts, providerOptions];
    const keyDigest = await sha256(new TextEncoder().encode(JSON.stringify(allKeyParts)));
    const cacheKey = toHex(new Uint8Array(keyDigest));
    const savedEvaluation = (paidEvaluation: Evaluation, savingKind: "hits" | "joined") => {
      const evaluation = { ...paidEvaluation };
      delete evaluation.steps; // each has its price
      savings[savingKind] += 1;
      savings.inputTokens += evaluation.usage?.inputTokens ?? 0;
      savings.costUsd += evaluation.costUsd ?? 0;
      const timing = { totalMs: elapsedMs(clock, startedAtMs), providerMs: null, attempts: 0 };
      const usage = { inputTokens: 0, outputTokens: 0 };
      return { ...structuredClone(evaluation), usage, costUsd: 0, timing };
    };
    const { signal } = call;
    for (
      let currentFlight = inFlight.get(cacheKey);
      currentFlight;
      currentFlight = inFlight.get(cacheKey)
    ) {
      const evaluation = await joined(currentFlight, { signal, limits: call.limits });
      if (evaluation !== null) return savedEvaluation(evaluation, "joined");
    }
    const outcome = askAndStore(cacheKey, request, { next: nextMiddleware, signal }).finally(() =>
      inFlight.delete(cacheKey),
    );
    inFlight.set(cacheKey, { outcome, signal, limits: call.limits });
    const { evaluation, isStored } = await outcome;
    return isStored ? savedEvaluation(evaluation, "hits") : evaluation;
  }

  return Object.assign(evaluate as Middleware, { savings });
}

type Next = (request: EvaluationRequest) => Promise<Evaluation>;

interface Asking extends Pick<MiddlewareCall, "signal"> {
  readonly next: Next;
}

/** A call that asks, with its signal and its limits. */
interface Flight extends Pick<MiddlewareCall, "signal" | "limits"> {
  readonly outcome: Promise<{
    readonly evaluation: Evaluation;
    /** A copy for those that join; a stored evaluation is copied anyway. */
    readonly keptEvaluation?: Evaluation;
  }>;
}

/** Waits for another call's evaluation; null if this call has to ask, since the other gave up earlier than it would. */
async function joined(
  { outcome, signal, limits }: Flight,
  ownCall: Pick<MiddlewareCall, "signal" | "limits">,
): Promise<Evaluation | null> {
  try {
    const { evaluation, keptEvaluation = evaluation } = await untilAborted(outcome, ownCall.signal);
    return keptEvaluation;
  } catch (flightError) {
    ownCall.signal?.throwIfAborted();
    if (signal?.aborted || hasTimeLeft(flightError)) return null;
    if (!(flightError instanceof EvaluatorError && flightError.isRetryable)) throw flightError;
    const triedAsOften = flightError.attempts > ownCall.limits.maxRetries;
    if (triedAsOften && limits.attemptTimeoutMs >= ownCall.limits.attemptTimeoutMs)
      throw flightError;
    return null;
  }
}

/** Whether only the deadline of the other call passed, which is not this one's. */
function hasTimeLeft(error: unknown): boolean {
  return error instanceof TimeoutError && error.limit === "deadline";
}

/** Whether a stored value is an evaluation that answers exactly these questions. */
function isAnswerTo(
  { questions }: EvaluationRequest,
  storedValue: unknown,
): storedValue is Evaluation {
  try {
    checkReply(
      { response: storedValue, modelId: null, requestId: null, raw: storedValue },
      questions,
    );
    return isRecord(valueAt(storedValue, "confidence")) && isRecord(valueAt(storedValue, "timing"));
  } catch {
    return false;
  }
}

function toHex(digestBytes: Uint8Array): string {
  return Array.from(digestBytes, (digestByte) => digestByte.toString(16).padStart(2, "0")).join("");
}

function boundedMemory(maxEntries: number): EvaluationStore {
  const evaluations = new Map<string, Evaluation>();
  const set = (cacheKey: string, storedEvaluation: Evaluation) => {
    evaluations.delete(cacheKey);
    evaluations.set(cacheKey, storedEvaluation);
    // An iterator that is kept would keep each table of the map that hits wore out.
    if (evaluations.size > maxEntries)
      evaluations.delete(evaluations.keys().next().value ?? cacheKey);
  };
  const get = (cacheKey: string) => {
    const evaluation = evaluations.get(cacheKey);
    if (evaluation !== undefined) set(cacheKey, evaluation);
    return evaluation;
  };
  return { get, set };
}
