import * as z from "zod/mini";
import { describeWait, untilAborted } from "../clock.ts";
import { ConnectionError, EvaluatorError, InvalidResponseError, RefusalError } from "../errors.ts";
import { checkOptions, checkPrice, optionsObject, rejectOption } from "../options.ts";
import type { Evaluation } from "../evaluation.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import type { Middleware, MiddlewareCall } from "../evaluator.ts";
import { computeMostTokens } from "../transports/call-estimate.ts";

/** Options of {@link budget}; at least one of the two limits is required. */
export interface BudgetOptions {
  /** The most US dollars. If the answers have no price, set `usdPerMillionTokens` too. */
  maxCostUsd?: number | undefined;
  /** The most tokens, input and output. */
  maxTokens?: number | undefined;
  /** The span until now that both limits apply to, in milliseconds. @default since the budget was made */
  spanMs?: number | undefined;
  /**
   * The highest price of a million tokens, in US dollars. Without it the highest price so far is used, of answers,
   * of the transport, and of another evaluator that is about to be asked; while none is known, calls go one at a time.
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
  usdPerMillionTokens: z.optional(z.unknown()),
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
  const { usdPerMillionTokens = 0 } = options;
  checkPrice("usdPerMillionTokens", usdPerMillionTokens);
  if (options.maxCostUsd === undefined && options.maxTokens === undefined)
    rejectOption("maxCostUsd", "is missing, and so is maxTokens; set one of them");
  const spendingLedger = new Ledger(options);
  const middleware = spendingLedger.evaluate.bind(spendingLedger) as Middleware;
  const spending = { get: () => spendingLedger.spending, enumerable: true };
  return Object.defineProperty(middleware, "spending", spending) as Budget;
}

/** Returns how many attempts of a failed call the service may have charged for. */
export function billedAttempts(
  callError: unknown,
  { lostAttempts, signal }: Pick<MiddlewareCall, "lostAttempts" | "signal">,
): number {
  const wasAborted = signal?.aborted === true && callError === signal.reason;
  if (wasAborted || !(callError instanceof EvaluatorError)) return lostAttempts + 1; // On the way.
  // The service did its work, though its answer is of no use.
  if (callError instanceof InvalidResponseError || callError instanceof RefusalError)
    return lostAttempts + 1;
  // The error of an evaluator that a middleware asked by itself has its own attempts.
  const isCounted =
    lostAttempts > 0 || !(callError instanceof ConnectionError && callError.maybeBilled);
  return isCounted ? lostAttempts : callError.attempts;
}

type Amount = Pick<Spending, "costUsd" | "tokens">;

const nothing: Amount = { costUsd: 0, tokens: 0 };

function computeSum(amounts: readonly Amount[]): Amount {
  const addAmounts = (leftAmount: Amount, rightAmount: Amount) => ({
    costUsd: leftAmount.costUsd + rightAmount.costUsd,
    tokens: leftAmount.tokens + rightAmount.tokens,
  });
  return amounts.reduce(addAmounts, nothing);
}

/** The reservation of a call: of one attempt, and of each that was lost before it. */
interface Reservation {
  /** The most that each attempt may take, the last one on the way. */
  readonly attempts: Amount[];
  readonly estimatedTokens: number;
  isOver: boolean;
}

/**
 * Returns the most tokens of so many lost attempts. Which of them were lost is not known: the largest, as far as the
 * answers leave room for them.
 */
function mostOfLost(
  attempts: readonly Amount[],
  {
    lost: lostCount,
    answered: answeredCount,
  }: { readonly lost: number; readonly answered: number },
): number {
  const sortedAmounts = attempts.toSorted(
    (leftAmount, rightAmount) => rightAmount.tokens - leftAmount.tokens,
  );
  const [most = nothing] = sortedAmounts;
  const { tokens: largest } = computeSum(sortedAmounts.slice(0, lostCount));
  const { tokens: smallest } = computeSum(
    sortedAmounts.slice(Math.max(0, sortedAmounts.length - lostCount)),
  );
  const remainingTokens = computeSum(sortedAmounts).tokens - answeredCount;
  const unreservedValue = Math.max(0, lostCount - sortedAmounts.length) * most.tokens;
  return Math.max(smallest, Math.min(largest, remainingTokens)) + unreservedValue;
}

class Ledger {
  readonly #options: BudgetOptions;
  /** What was spent over the span, the oldest first; empty without a span. */
  readonly #spentItems: (Amount & { readonly atMs: number })[] = [];
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
    nextMiddleware: (request: EvaluationRequest) => Promise<Evaluation>,
    call: MiddlewareCall,
  ): Promise<Evaluation> {
    const reservation = await this.#reserve(request, call);
    call.beforeAttempt(() => this.#reserveRetry(reservation, call));
    try {
      const evaluation = await nextMiddleware(request);
      const most = Math.max(...reservation.attempts.map(({ tokens }) => tokens));
      const stepAmounts = (evaluation.steps ?? [evaluation]).map(({ usage, costUsd }) => {
        // An answer without usage counts as reserved: nothing else is known of it.
        const usedTokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens;
        const tokens = usage === null ? most : usedTokens;
        const stepAmount = { costUsd: costUsd ?? this.#computePrice(tokens), tokens };
        const learnedValue =
          usedTokens === 0 ? reservation.estimatedTokens : Math.min(usedTokens, most);
        this.#learnPrice(stepAmount.costUsd, learnedValue);
        return stepAmount;
      });
      this.#settleReservation(reservation, computeSum(stepAmounts), {
        call,
        lost: call.lostAttempts,
      });
      return evaluation;
    } catch (callError) {
      const lostCount = billedAttempts(callError, call);
      this.#settleReservation(reservation, nothing, { call, lost: lostCount });
      throw callError;
    }
  }

  /** Returns the highest price of tokens, for an answer without a price. */
  #computePrice(tokens: number): number {
    if (this.#usdPerToken === null) this.#isUnpriced = true;
    return tokens * (this.#usdPerToken ?? 0);
  }

  /** @throws BudgetError if the call might exceed the budget, or if no price is known. */
  async #reserve(request: EvaluationRequest, call: MiddlewareCall): Promise<Reservation> {
    const estimate = call.estimate(request);
    const tokens = computeMostTokens(estimate);
    if (this.#options.maxCostUsd !== undefined) await this.#untilPriced(call);
    const amount = { costUsd: tokens * (this.#usdPerToken ?? 0), tokens };
    this.#forgetOld(call);
    this.#takeAmount(amount);
    this.#inFlight += 1;
    const { inputTokens, outputTokens = 0 } = estimate;
    return { attempts: [amount], estimatedTokens: inputTokens + outputTokens, isOver: false };
  }

  /** Reserves one more attempt after one that may have been charged for, or what it takes more. @throws BudgetError if it does not fit */
  #reserveRetry({ attempts, isOver }: Reservation, { lostAttempts, elsewhere }: MiddlewareCall) {
    if (isOver) return;
    // Another evaluator may be dearer than all answers so far, and make more calls of an attempt.
    const { usdPerMillionTokens, mostTokens = 0 } = elsewhere;
    if (usdPerMillionTokens !== undefined) this.#learnPrice(usdPerMillionTokens, 1e6);
    const knownAmount = lostAttempts < attempts.length ? (attempts.pop() as Amount) : nothing;
    const tokens = Math.max(mostTokens, (attempts[0] ?? knownAmount).tokens);
    const costUsd = Math.max(knownAmount.costUsd, tokens * (this.#usdPerToken ?? 0));
    const amount = { tokens: Math.max(knownAmount.tokens, tokens), costUsd };
    const additionalAmount = {
      tokens: amount.tokens - knownAmount.tokens,
      costUsd: costUsd - knownAmount.costUsd,
    };
    // It stays reserved if there is no room for more.
    if (knownAmount !== nothing) attempts.push(knownAmount);
    if (additionalAmount.tokens === 0 && additionalAmount.costUsd === 0) return;
    this.#takeAmount(additionalAmount);
    if (knownAmount !== nothing) attempts.pop();
    attempts.push(amount);
  }

  #takeAmount(amount: Amount): void {
    this.#checkAmount(amount);
    this.#spending.reservedUsd += amount.costUsd;
    this.#spending.reservedTokens += amount.tokens;
  }

  #learnPrice(costUsd: number, tokens: number): void {
    if (this.#options.usdPerMillionTokens !== undefined || this.#isUnpriced) return;
    this.#usdPerToken = Math.max(this.#usdPerToken ?? 0, costUsd / Math.max(1, tokens));
  }

  /** Ends a reservation; each lost attempt may cost as much as was reserved for the dearest ones. */
  #settleReservation(
    reservation: Reservation,
    answerAmount: Amount,
    { call: { clock }, lost: lostCount }: { readonly call: MiddlewareCall; readonly lost: number },
  ): void {
    reservation.isOver = true;
    this.#inFlight -= 1;
    const reservedAmount = computeSum(reservation.attempts);
    this.#spending.reservedTokens -= reservedAmount.tokens;
    // Differences of floating-point numbers would leave a rest.
    if (this.#inFlight === 0) this.#spending.reservedUsd = 0;
    else this.#spending.reservedUsd -= reservedAmount.costUsd;
    this.#pricing?.resolve();
    this.#pricing = null;
    const lostTokens = mostOfLost(reservation.attempts, {
      lost: lostCount,
      answered: answerAmount.tokens,
    });
    const spentAmounts = {
      costUsd: answerAmount.costUsd + lostTokens * (this.#usdPerToken ?? 0),
      tokens: answerAmount.tokens + lostTokens,
    };
    if (spentAmounts.tokens === 0 && spentAmounts.costUsd === 0) return;
    this.#spending.costUsd += spentAmounts.costUsd;
    this.#spending.tokens += spentAmounts.tokens;
    if (this.#options.spanMs !== undefined)
      this.#spentItems.push({ ...spentAmounts, atMs: clock.now() });
  }

  /** Lets one call go first while no price is known; that of the transport, such as a service's row, is one. */
  async #untilPriced({ signal, usdPerMillionTokens }: MiddlewareCall): Promise<void> {
    if (usdPerMillionTokens !== undefined) this.#learnPrice(usdPerMillionTokens, 1e6);
    while (this.#usdPerToken === null && this.#pricing !== null) {
      await untilAborted(this.#pricing.promise, signal);
    }
    if (this.#usdPerToken !== null) return;
    if (this.#isUnpriced) {
      const message =
        "The call was not sent: the answers have no price to count for maxCostUsd. Set usdPerMillionTokens, or maxTokens instead.";
      throw new BudgetError(message, { limit: "maxCostUsd", spending: this.spending });
    }
    this.#pricing = Promise.withResolvers();
  }

  #checkAmount(amount: Amount): void {
    const { maxCostUsd = Infinity, maxTokens = Infinity, spanMs } = this.#options;
    const { spending } = this;
    const { costUsd, tokens, reservedUsd, reservedTokens } = spending;
    const spanText = spanMs === undefined ? "" : ` in ${describeWait(spanMs)}`;
    const othersText = reservedTokens > 0 ? " and the calls in flight may take the rest" : "";
    const rejectCall = (limit: BudgetError["limit"], largestText: string, spentText: string) => {
      const message = `The call was not sent: it might exceed the budget of ${largestText}${spanText}, of which ${spentText} are spent${othersText}. Raise ${limit}, or wait.`;
      throw new BudgetError(message, { limit, spending });
    };
    if (costUsd + reservedUsd + amount.costUsd > maxCostUsd) {
      rejectCall("maxCostUsd", `$${maxCostUsd}`, `$${costUsd.toPrecision(3)}`);
    }
    if (tokens + reservedTokens + amount.tokens > maxTokens) {
      rejectCall("maxTokens", `${maxTokens} tokens`, `${tokens}`);
    }
  }

  #forgetOld({ clock }: MiddlewareCall): void {
    const sinceMs = clock.now() - (this.#options.spanMs ?? 0);
    while ((this.#spentItems[0]?.atMs ?? Infinity) <= sinceMs) {
      const { costUsd, tokens } = this.#spentItems.shift() as Amount;
      this.#spending.costUsd -= costUsd;
      this.#spending.tokens -= tokens;
    }
  }
}
