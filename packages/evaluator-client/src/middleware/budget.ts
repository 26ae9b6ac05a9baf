import * as z from "zod/mini";
import { describeWait, untilAborted } from "../clock.ts";
import {
  ConfigurationError,
  ConnectionError,
  EvaluatorError,
  InvalidResponseError,
  RefusalError,
} from "../errors.ts";
import { checkOptions, optionsObject } from "../options.ts";
import type { Evaluation } from "../evaluation.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import type { Middleware, MiddlewareCall } from "../evaluator.ts";

/** Options of {@link budget}; at least one of the two limits is required. */
export interface BudgetOptions {
  /** The most US dollars. If the answers have no price, set `usdPerMillionTokens` too. */
  maxCostUsd?: number | undefined;
  /** The most tokens, input and output. */
  maxTokens?: number | undefined;
  /** The span until now that both limits apply to, in milliseconds. @default since the budget was made */
  spanMs?: number | undefined;
  /**
   * The highest price of a million tokens, in US dollars. Without it the highest price so far is used, also that
   * of the transport of another evaluator that is about to be asked, and calls go one at a time until the first answer.
   */
  usdPerMillionTokens?: number | undefined;
}

/** The amounts that were spent over the span, and the most that calls in flight may take. */
export interface Spending {
  readonly costUsd: number;
  readonly tokens: number;
  readonly reservedUsd: number;
  readonly reservedTokens: number;
}

/** A middleware that rejects calls over a budget. */
export type Budget = Middleware & { readonly spending: Spending };

/** A call was rejected before it was sent, because it might exceed the budget. */
export class BudgetError extends EvaluatorError {
  /** Which limit it was. */
  readonly limit: "maxCostUsd" | "maxTokens";
  /** The spending when it was rejected. */
  readonly spending: Spending;

  constructor(message: string, details: Pick<BudgetError, "limit" | "spending">) {
    super(message, { isRetryable: false });
    this.limit = details.limit;
    this.spending = details.spending;
  }
}

const optionsSchema = optionsObject({
  maxCostUsd: z.optional(z.number().check(z.positive())),
  maxTokens: z.optional(z.int().check(z.positive())),
  spanMs: z.optional(z.number().check(z.positive())),
  usdPerMillionTokens: z.optional(z.number().check(z.nonnegative())),
});

/**
 * Makes a middleware that rejects a call before it is sent if it might exceed the budget. Calls in
 * flight count as the most that they may take, and so do lost attempts that may have been billed: a token
 * for each UTF-8 byte, and 256 for the service's own prompt. Several evaluators and batches may share one
 * budget.
 *
 * @throws {ConfigurationError} when an option is wrong, or neither limit is given.
 * @example
 * ```ts
 * const daily = budget({ maxCostUsd: 5, spanMs: 24 * 3600 * 1000 });
 * const evaluator = createEvaluator().with(daily);
 * ```
 */
export function budget(options: BudgetOptions): Budget {
  checkOptions(optionsSchema, options);
  if (options.maxCostUsd === undefined && options.maxTokens === undefined) {
    const message = "A budget needs maxCostUsd or maxTokens.";
    throw new ConfigurationError(message, { option: "maxCostUsd" });
  }
  const ledger = new Ledger(options);
  const middleware = ledger.evaluate.bind(ledger) as Middleware;
  const spending = { get: () => ledger.spending, enumerable: true };
  return Object.defineProperty(middleware, "spending", spending) as Budget;
}

/** Returns how many attempts of a failed call the service may have charged for. */
export function billedAttempts(
  error: unknown,
  { lostAttempts, signal }: Pick<MiddlewareCall, "lostAttempts" | "signal">,
): number {
  const wasAborted = signal?.aborted === true && error === signal.reason;
  if (wasAborted || !(error instanceof EvaluatorError)) return lostAttempts + 1; // On the way.
  // The service did its work, though its answer is of no use.
  if (error instanceof InvalidResponseError || error instanceof RefusalError)
    return lostAttempts + 1;
  // An error of another evaluator, such as a fallback's, has its own attempts.
  const own = error instanceof ConnectionError && error.maybeBilled ? error.attempts : 0;
  return Math.max(lostAttempts, own);
}

type Amount = Pick<Spending, "costUsd" | "tokens">;

/** The reservation of a call: of one attempt, and of each that was lost before it. */
interface Reservation {
  /** The most that an attempt may take. */
  readonly each: Amount;
  readonly estimatedTokens: number;
  attempts: number;
  /** Of all attempts. */
  reservedUsd: number;
  isOver: boolean;
}

class Ledger {
  readonly #options: BudgetOptions;
  /** What was spent over the span, the oldest first; empty without a span. */
  readonly #spent: (Amount & { readonly atMs: number })[] = [];
  readonly #spending = { costUsd: 0, tokens: 0, reservedUsd: 0, reservedTokens: 0 };
  #inFlight = 0;
  /** The given price, else the highest so far. */
  #usdPerToken: number | null;
  /** Whether an answer came without a price before any came with one. */
  #isUnpriced = false;
  /** Resolved when the call ends that goes first while no price is known. */
  #pricing: PromiseWithResolvers<void> | null = null;

  constructor(options: BudgetOptions) {
    this.#options = { ...options };
    const { usdPerMillionTokens } = options;
    this.#usdPerToken = usdPerMillionTokens === undefined ? null : usdPerMillionTokens / 1e6;
  }

  get spending(): Spending {
    return { ...this.#spending };
  }

  async evaluate(
    request: EvaluationRequest,
    next: (request: EvaluationRequest) => Promise<Evaluation>,
    call: MiddlewareCall,
  ): Promise<Evaluation> {
    const reservation = await this.#reserve(request, call);
    const { each: reserved } = reservation;
    call.beforeAttempt(() => this.#reserveRetry(reservation, call));
    try {
      const evaluation = await next(request);
      const parts = (evaluation.steps ?? [evaluation]).map(({ usage, costUsd }) => {
        // An answer without usage counts as reserved: nothing else is known of it.
        const told = usage === null ? 0 : usage.inputTokens + usage.outputTokens;
        const tokens = usage === null ? reserved.tokens : told;
        const part = { costUsd: costUsd ?? this.#priceOf(tokens), tokens };
        const learned = told === 0 ? reservation.estimatedTokens : Math.min(told, reserved.tokens);
        this.#learnPrice(part.costUsd, learned);
        return part;
      });
      const answer = parts.reduce((one, other) => ({
        costUsd: one.costUsd + other.costUsd,
        tokens: one.tokens + other.tokens,
      }));
      this.#settle(reservation, answer, { call, lost: call.lostAttempts });
      return evaluation;
    } catch (error) {
      const lost = billedAttempts(error, call);
      this.#settle(reservation, { costUsd: 0, tokens: 0 }, { call, lost });
      throw error;
    }
  }

  /** Returns the highest price of tokens, for an answer without a price. */
  #priceOf(tokens: number): number {
    if (this.#usdPerToken === null) this.#isUnpriced = true;
    return tokens * (this.#usdPerToken ?? 0);
  }

  /** @throws BudgetError if the call might exceed the budget, or if no price is known. */
  async #reserve(request: EvaluationRequest, call: MiddlewareCall): Promise<Reservation> {
    const { inputTokens, mostInputTokens, outputTokens = 0 } = call.estimate(request);
    const tokens = mostInputTokens + outputTokens;
    if (this.#options.maxCostUsd !== undefined) await this.#untilPriced(call.signal);
    const amount = { costUsd: tokens * (this.#usdPerToken ?? 0), tokens };
    this.#forgetOld(call);
    this.#take(amount);
    this.#inFlight += 1;
    const estimatedTokens = inputTokens + outputTokens;
    const { costUsd: reservedUsd } = amount;
    return { each: amount, estimatedTokens, attempts: 1, reservedUsd, isOver: false };
  }

  /** Reserves one more attempt after one that may have been charged for. @throws BudgetError if it does not fit */
  #reserveRetry(reservation: Reservation, { lostAttempts, elsewhere }: MiddlewareCall): void {
    if (reservation.isOver || lostAttempts < reservation.attempts) return;
    const { tokens } = reservation.each;
    // Another evaluator may be dearer than all answers so far.
    const { usdPerMillionTokens } = elsewhere;
    if (usdPerMillionTokens !== undefined) this.#learnPrice(usdPerMillionTokens / 1e6, 1);
    const costUsd = tokens * (this.#usdPerToken ?? 0);
    this.#take({ tokens, costUsd });
    reservation.attempts += 1;
    reservation.reservedUsd += costUsd;
  }

  #take(amount: Amount): void {
    this.#check(amount);
    this.#spending.reservedUsd += amount.costUsd;
    this.#spending.reservedTokens += amount.tokens;
  }

  #learnPrice(costUsd: number, tokens: number): void {
    if (this.#options.usdPerMillionTokens !== undefined || this.#isUnpriced) return;
    this.#usdPerToken = Math.max(this.#usdPerToken ?? 0, costUsd / Math.max(1, tokens));
  }

  /** Ends a reservation; each lost attempt may cost as much as was reserved. */
  #settle(
    reservation: Reservation,
    answer: Amount,
    { call: { clock }, lost }: { readonly call: MiddlewareCall; readonly lost: number },
  ): void {
    const { each: reserved, attempts, reservedUsd } = reservation;
    reservation.isOver = true;
    this.#inFlight -= 1;
    this.#spending.reservedTokens -= attempts * reserved.tokens;
    // Differences of floating-point numbers would leave a rest.
    if (this.#inFlight === 0) this.#spending.reservedUsd = 0;
    else this.#spending.reservedUsd -= reservedUsd;
    this.#pricing?.resolve();
    this.#pricing = null;
    const lostTokens = lost * reserved.tokens;
    const spent = {
      costUsd: answer.costUsd + lostTokens * (this.#usdPerToken ?? 0),
      tokens: answer.tokens + lostTokens,
    };
    if (spent.tokens === 0 && spent.costUsd === 0) return;
    this.#spending.costUsd += spent.costUsd;
    this.#spending.tokens += spent.tokens;
    if (this.#options.spanMs !== undefined) this.#spent.push({ ...spent, atMs: clock.now() });
  }

  /** Lets one call go first while no price is known. */
  async #untilPriced(signal: AbortSignal | undefined): Promise<void> {
    while (this.#usdPerToken === null && this.#pricing !== null) {
      await untilAborted(this.#pricing.promise, signal);
    }
    if (this.#usdPerToken !== null) return;
    if (this.#isUnpriced) {
      const message =
        "The call was not sent: the answers have no price, so the rest of maxCostUsd is unknown. Set usdPerMillionTokens, or maxTokens instead of maxCostUsd.";
      throw new BudgetError(message, { limit: "maxCostUsd", spending: this.spending });
    }
    this.#pricing = Promise.withResolvers();
  }

  #check(amount: Amount): void {
    const { maxCostUsd = Infinity, maxTokens = Infinity, spanMs } = this.#options;
    const { spending } = this;
    const { costUsd, tokens, reservedUsd, reservedTokens } = spending;
    const span = spanMs === undefined ? "" : ` in ${describeWait(spanMs)}`;
    const others = reservedTokens > 0 ? " and the calls in flight may take the rest" : "";
    const reject = (limit: BudgetError["limit"], most: string, spent: string) => {
      const message = `The call was not sent: it might exceed the budget of ${most}${span}, of which ${spent} are spent${others}. Raise ${limit}, or wait.`;
      throw new BudgetError(message, { limit, spending });
    };
    if (costUsd + reservedUsd + amount.costUsd > maxCostUsd) {
      reject("maxCostUsd", `$${maxCostUsd}`, `$${costUsd.toPrecision(3)}`);
    }
    if (tokens + reservedTokens + amount.tokens > maxTokens) {
      reject("maxTokens", `${maxTokens} tokens`, `${tokens}`);
    }
  }

  #forgetOld({ clock }: MiddlewareCall): void {
    const sinceMs = clock.now() - (this.#options.spanMs ?? 0);
    while ((this.#spent[0]?.atMs ?? Infinity) <= sinceMs) {
      const { costUsd, tokens } = this.#spent.shift() as Amount;
      this.#spending.costUsd -= costUsd;
      this.#spending.tokens -= tokens;
    }
  }
}
