import type { Conversation } from "../conversation/conversation.ts";
import type { Routing } from "../decision/decide.ts";
import { HttpError } from "../http-error.ts";
import { type ReplyListener, ReplyLimitError } from "../reply/reply-piece.ts";
import type { ReplyPlan } from "../reply/upstream.ts";
import { type BudgetKey, type Held, type Room, toNano } from "./budget-state.ts";
import { dearestUsd, evaluationUsd, expectedTokens, OUTPUT_STEP, tokensOf } from "./call-price.ts";
import type { Ledger } from "./ledger.ts";

/** The dearest case of a call; null for no evaluation or no reply. */
interface DearestCase {
  readonly evaluated: string | null;
  readonly conversation: Conversation | null;
  /** One of them replies; the dearest is first. */
  readonly plans: readonly ReplyPlan[];
}

/** One call's part of a budget: reserved before anything is asked, renewed, and settled once. */
export class CallBudget {
  readonly #key: BudgetKey;
  readonly #ledger: Ledger;
  readonly #prices: Routing["prices"];
  #work: Promise<unknown> = Promise.resolve();
  #held: Held | null = null;
  #room: Room | null = null;
  #evaluationUsd = 0;
  #tokens = { input: 0, output: 0 };
  #earlierUsd = 0;
  #spentUsd: () => number | null = () => 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the reply has no limit of tokens. */
  isOpenEnded = false;

  constructor(key: BudgetKey, { ledger, prices }: { ledger: Ledger; prices: Routing["prices"] }) {
    [this.#key, this.#ledger, this.#prices] = [key, ledger, prices];
  }

  /** Reserves the dearest plan that fits, and returns its index. @throws HttpError (400, 429, 503) */
  async reserve({ evaluated, conversation, plans }: DearestCase): Promise<number> {
    if (evaluated !== null) this.#evaluationUsd = evaluationUsd(evaluated);
    if (conversation !== null) {
      this.#tokens = expectedTokens(conversation);
      this.isOpenEnded = conversation.settings.maxOutputTokens === undefined;
    }
    const replies = plans.map((plan) => this.#usdOf(plan));
    const costs = conversation === null ? [this.#evaluationUsd] : replies;
    // A cheaper tier may reply in place of a dearer one.
    const amounts = costs.map((_, at) => toNano(Math.max(...costs.slice(at))));
    const { held, at, room } = await this.#ledger.reserve(this.#key, amounts).catch(() => {
      throw new HttpError(503, unwritable);
    });
    [this.#held, this.#room] = [held, room];
    if (held === null) throw this.#refusal(room.resetAtMs);
    const renew = () => void this.#renew(({ nano }) => nano);
    this.#timer = setInterval(renew, this.#ledger.leaseMs / 3).unref();
    return at;
  }

  /** Reduces the reservation to the plan that replies; the cost so far is charged if the router dies. */
  async begin(plan: ReplyPlan, spentUsd: () => number | null): Promise<void> {
    this.#spentUsd = spentUsd;
    await this.#renew(() => toNano(this.#usdOf(plan)));
  }

  /** Returns a listener that ends a reply without a limit when the budget has no room for more. */
  limit({ onPieces, onBytes }: ReplyListener, plan: ReplyPlan): ReplyListener {
    if (!this.isOpenEnded) return { onPieces, onBytes };
    const step = { input: 0, output: OUTPUT_STEP };
    const more = ({ nano }: Held) => nano + toNano(dearestUsd(plan, step, this.#prices));
    let left = OUTPUT_STEP;
    return {
      onBytes,
      onPieces: async (pieces) => {
        await onPieces(pieces);
        left -= tokensOf(pieces.map(({ text }) => text).join(""));
        for (; left <= 0; left += OUTPUT_STEP) {
          if (!(await this.#renew(more))) throw new ReplyLimitError();
        }
      },
    };
  }

  /** Adds the cost of an attempt that another one follows. */
  addAttempt(usd: number | null): void {
    this.#earlierUsd += usd ?? 0;
  }

  /** Charges the call once. Null is unknown: the whole reservation, and the expected evaluation. */
  async settle(replyUsd: number | null, decisionUsd: number | null): Promise<void> {
    clearInterval(this.#timer);
    await this.#inTurn(async (held) => {
      const nano = this.#nanoOf(replyUsd, decisionUsd) ?? held.nano;
      this.#held = null;
      this.#room = await this.#ledger.settle(this.#key, held, nano);
      return true;
    });
  }

  /** The headers of the call's answer. */
  headers(): Record<string, string> {
    if (this.#room === null) return {};
    const { nano, resetAtMs } = this.#room;
    return {
      "x-router-budget-remaining-usd": (Math.max(0, nano) / 1e9).toFixed(6),
      "x-router-budget-reset": new Date(resetAtMs).toISOString(),
    };
  }

  #nanoOf(replyUsd: number | null, decisionUsd: number | null): number | null {
    if (replyUsd === null) return null;
    return toNano((decisionUsd ?? this.#evaluationUsd) + this.#earlierUsd + replyUsd);
  }

  #usdOf(plan: ReplyPlan): number {
    return this.#evaluationUsd + dearestUsd(plan, this.#tokens, this.#prices);
  }

  /** Renews the reservation with an amount; false if it does not fit. */
  #renew(nanoFor: (held: Held) => number): Promise<boolean> {
    return this.#inTurn(async (held) => {
      const nano = nanoFor(held);
      const known = this.#nanoOf(this.#spentUsd(), null) ?? nano;
      const renewed = await this.#ledger.renew(this.#key, held, { nano, known });
      this.#held = renewed ?? held;
      return renewed !== null;
    });
  }

  /** Changes one after the other; false without a reservation, or if the ledger cannot be written. */
  #inTurn(change: (held: Held) => Promise<boolean>): Promise<boolean> {
    const run = async () => this.#held !== null && change(this.#held);
    const done = this.#work.then(run).catch(() => false);
    this.#work = done;
    return done;
  }

  #refusal(resetAtMs: number): HttpError {
    const { "x-router-budget-remaining-usd": left, "x-router-budget-reset": reset } =
      this.headers();
    const message = `The budget ${this.#key.budget} has no room for this call: $${left} are left until ${reset}.`;
    const retryAfter = String(Math.max(1, Math.ceil((resetAtMs - Date.now()) / 1000)));
    const headers = { "x-should-retry": "false" };
    return new HttpError(429, message, { code: "insufficient_quota", headers, retryAfter });
  }
}

const unwritable =
  "The ledger of the budgets cannot be written; until it can, only keys without a budget may call.";
