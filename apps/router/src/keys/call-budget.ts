import { estimateTextTokens } from "evaluator-client";
import type { Conversation } from "../conversation/conversation.ts";
import type { Routing } from "../decision/decide.ts";
import { HttpError } from "../http-error.ts";
import { ReplyLimitError, type ReplyListener } from "../reply/reply-piece.ts";
import type { ReplyPlan } from "../reply/upstream.ts";
import { type BudgetKey, type Held, type Room, toNano } from "./budget-state.ts";
import {
  type CallTokens,
  dearestUsd,
  evaluationUsd,
  expectedTokens,
  OUTPUT_STEP,
} from "./call-price.ts";
import type { Ledger } from "./ledger.ts";

/** The dearest case of a call. */
interface DearestCase {
  /** Null for no evaluation. */
  readonly evaluatedText: string | null;
  /** Null for a decision alone. */
  readonly conversation: Conversation | null;
  /** One of them replies; of equal costs, the first one is the cheapest. */
  readonly plans: readonly ReplyPlan[];
}

/** One call's part of a budget: reserved before anything is asked, renewed, and settled once. */
export class CallBudget {
  readonly #budgetKey: BudgetKey;
  readonly #ledger: Ledger;
  readonly #prices: Routing["prices"];
  #pendingWork: Promise<unknown> = Promise.resolve();
  #reservation: Held | null = null;
  #room: Room | null = null;
  #evaluationUsd = 0;
  #tokens: CallTokens = { input: 0, output: 0 };
  #earlierUsd = 0;
  /** The expected cost of evaluations that were lost on the way, in US dollars. */
  lostEvaluationsUsd = 0;
  #spentUsd: () => number | null = () => 0;
  #renewTimer: NodeJS.Timeout | undefined;
  #replyPlan: ReplyPlan | null = null;
  /** Whether its lease ended, and others have its room. */
  #isOver = false;
  /** Whether the reply has no limit of tokens. */
  isOpenEnded = false;

  constructor(key: BudgetKey, { ledger, prices }: { ledger: Ledger; prices: Routing["prices"] }) {
    [this.#budgetKey, this.#ledger, this.#prices] = [key, ledger, prices];
  }

  /** Reserves the dearest plan that fits, and returns it with all cheaper ones. @throws HttpError (400, 429, 503) */
  async reserve({
    evaluatedText,
    conversation,
    plans,
  }: DearestCase): Promise<readonly ReplyPlan[]> {
    if (evaluatedText !== null) this.#evaluationUsd = evaluationUsd(evaluatedText);
    if (conversation !== null) {
      this.#tokens = expectedTokens(conversation);
      this.isOpenEnded = conversation.settings.maxOutputTokens === undefined;
    }
    const computeNano = (plan: ReplyPlan) =>
      toNano(conversation === null ? this.#evaluationUsd : this.#computeUsd(plan));
    const planCosts = plans.map((plan) => [plan, computeNano(plan)] as const).toReversed();
    const dearestFirst = planCosts.toSorted(([, one], [, other]) => other - one);
    const planIndex = await this.#hold(dearestFirst.map(([, nano]) => nano));
    return dearestFirst.slice(planIndex).map(([plan]) => plan);
  }

  /** Reserves the most that work without a reply can cost. @throws HttpError (429, 503) */
  async reserveUsd(reservedUsd: number): Promise<void> {
    this.#evaluationUsd = reservedUsd;
    await this.#hold([toNano(reservedUsd)]);
  }

  /** Reserves the first amount that fits, renews it until the end, and returns its index. @throws HttpError (429, 503) */
  async #hold(amounts: readonly number[]): Promise<number> {
    // The evaluation is asked first, so a router that dies may leave it to be paid.
    const reserving = this.#ledger.reserve(this.#budgetKey, amounts, toNano(this.#evaluationUsd));
    const {
      held: reservation,
      at,
      room,
    } = await reserving.catch(() => {
      throw new HttpError(503, unwritable);
    });
    [this.#reservation, this.#room] = [reservation, room];
    if (reservation === null) throw this.refusal();
    const renewReservation = () => void this.#renew(({ nano }) => nano);
    this.#renewTimer = setInterval(renewReservation, this.#ledger.leaseMs / 3).unref();
    return at;
  }

  /** Reduces the reservation to the plan that replies, and returns what may be sent; the cost so far is charged if the router dies. */
  async begin(
    replyPlan: ReplyPlan,
    conversation: Conversation,
    spentUsd: () => number | null,
  ): Promise<Conversation> {
    [this.#replyPlan, this.#spentUsd] = [replyPlan, spentUsd];
    await this.#renew(() => toNano(this.#earlierUsd + this.#computeUsd(replyPlan)));
    if (!this.isOpenEnded) return conversation;
    const maxOutputTokens = await this.#reserveOutput(replyPlan);
    return { ...conversation, settings: { ...conversation.settings, maxOutputTokens } };
  }

  /**
   * Reserves more steps of output before the call, if they are a small part of the room, and returns all tokens.
   * They are the limit of the call, as a service bills thinking that it does not show.
   */
  async #reserveOutput(replyPlan: ReplyPlan): Promise<number> {
    for (const output of OPEN_OUTPUTS) {
      const nextTokens = { ...this.#tokens, output };
      const nano = toNano(this.#earlierUsd + this.#computeUsd(replyPlan, nextTokens));
      const more = nano - toNano(this.#earlierUsd + this.#computeUsd(replyPlan));
      if (more > (this.#room?.nano ?? 0) * SMALL_PART || !(await this.#renew(() => nano))) continue;
      this.#tokens = nextTokens;
      break;
    }
    return this.#tokens.output;
  }

  /** Returns a listener that ends a reply when the budget is spent, if the client's API has a reason for that end. */
  limit(listener: ReplyListener, plan: ReplyPlan): ReplyListener {
    if (!this.isOpenEnded) {
      return (replyPart) => {
        if (this.#isOver && typeof replyPart !== "string") throw new ReplyLimitError();
        return listener(replyPart);
      };
    }
    // At the prices of a call with its input, which can be dearer from a length on.
    const toUsd = (output: number) => dearestUsd(plan, { ...this.#tokens, output }, this.#prices);
    const stepUsd = toUsd(this.#tokens.output + OUTPUT_STEP) - toUsd(this.#tokens.output);
    const withNextStep = ({ nano }: Held) => nano + toNano(stepUsd);
    let remainingCount = this.#tokens.output;
    return async (replyPart) => {
      await listener(replyPart);
      const texts = typeof replyPart === "string" ? [replyPart] : replyPart.map(({ text }) => text);
      remainingCount -= estimateTextTokens(texts.join(""));
      if (this.#isOver) throw new ReplyLimitError();
      for (; remainingCount <= 0; remainingCount += OUTPUT_STEP) {
        if (!(await this.#renew(withNextStep))) throw new ReplyLimitError();
      }
    };
  }

  /** Adds the cost of an attempt; null is unknown: its reservation. False if there is no room for another one. */
  async addAttempt(knownUsd: number | null): Promise<boolean> {
    const usd = knownUsd ?? (this.#replyPlan === null ? 0 : this.#computeUsd(this.#replyPlan));
    this.#earlierUsd += usd;
    return usd === 0 || (await this.#renew(({ nano }) => nano + toNano(usd)));
  }

  /** Adds the expected cost of evaluations that were lost on the way: each may be billed. False if there is no room for another one. */
  addEvaluations(lostCount: number): Promise<boolean> {
    this.lostEvaluationsUsd += lostCount * this.#evaluationUsd;
    return this.addAttempt(lostCount * this.#evaluationUsd);
  }

  /** Charges the call once, a decision with its lost ones. Null is unknown: the whole reservation, and the expected evaluation. */
  async settle(replyUsd: number | null, decisionUsd: number | null): Promise<void> {
    clearInterval(this.#renewTimer);
    await this.#inTurn(async (reservation) => {
      const callNano = this.#computeNano(replyUsd, decisionUsd) ?? reservation.nano;
      this.#reservation = null;
      this.#room = await this.#ledger.settle(this.#budgetKey, reservation, callNano);
      return true;
    });
  }

  /** The headers of the call's answer. */
  headers(): Record<string, string> {
    if (this.#room === null) return {};
    const { nano, resetAtMs } = this.#room;
    return {
      "x-router-budget-remaining-usd": (Math.floor(Math.max(0, nano) / 1e3) / 1e6).toFixed(6),
      "x-router-budget-reset": new Date(resetAtMs).toISOString(),
    };
  }

  #computeNano(replyUsd: number | null, decisionUsd: number | null): number | null {
    if (replyUsd === null) return null;
    const lastUsd =
      decisionUsd === null ? this.#evaluationUsd : decisionUsd - this.lostEvaluationsUsd;
    return toNano(Math.max(0, lastUsd) + this.#earlierUsd + replyUsd);
  }

  #computeUsd(replyPlan: ReplyPlan, callTokens = this.#tokens): number {
    return this.#evaluationUsd + dearestUsd(replyPlan, callTokens, this.#prices);
  }

  /** Renews the reservation with an amount; false if it does not fit. */
  #renew(nanoFor: (reservation: Held) => number): Promise<boolean> {
    return this.#inTurn(async (reservation) => {
      const nano = nanoFor(reservation);
      const knownNano = this.#computeNano(this.#spentUsd(), null) ?? nano;
      const renewal = await this.#ledger.renew(this.#budgetKey, reservation, {
        nano,
        known: knownNano,
      });
      this.#reservation = renewal ?? reservation;
      this.#isOver = renewal === null && nano <= reservation.nano;
      return renewal !== null;
    });
  }

  /** Changes one after the other; false without a reservation, or if the ledger cannot be written. */
  #inTurn(changeReservation: (reservation: Held) => Promise<boolean>): Promise<boolean> {
    const run = async () => this.#reservation !== null && changeReservation(this.#reservation);
    const donePromise = this.#pendingWork.then(run).catch(() => false);
    this.#pendingWork = donePromise;
    return donePromise;
  }

  /** Returns the error of a call that has no room. */
  refusal(): HttpError {
    const { resetAtMs = Date.now() } = this.#room ?? {};
    const { "x-router-budget-remaining-usd": remainingText, "x-router-budget-reset": reset } =
      this.headers();
    const message = `The budget ${this.#budgetKey.budget} has no room for this call: $${remainingText} are left until ${reset}.`;
    const retryAfter = String(Math.max(1, Math.ceil((resetAtMs - Date.now()) / 1000)));
    const headers = { "x-should-retry": "false" };
    return new HttpError(429, message, { code: "insufficient_quota", headers, retryAfter });
  }
}

const unwritable =
  "The ledger of the budgets cannot be written; until it can, only keys without a budget may call.";

/** Its limits; a first step always fits. Chosen: current models write 16,384 tokens at once. */
const OPEN_OUTPUTS = [4 * OUTPUT_STEP, 3 * OUTPUT_STEP, 2 * OUTPUT_STEP];

/** The most of a budget's room that further steps take before a call: others may begin meanwhile. Chosen. */
const SMALL_PART = 1 / 8;
