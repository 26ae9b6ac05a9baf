import type { Conversation } from "../conversation/conversation.ts";
import type { Decision } from "../decision/decision.ts";
import { HttpError } from "../http-error.ts";
import { type ReplyListener, ReplyLimitError } from "../reply/reply-listener.ts";
import type { ReplyPlan } from "../reply/upstream.ts";
import type { ModelPrice } from "../reply/usage.ts";
import {
  dearestUsd,
  evaluationUsd,
  type ExpectedTokens,
  expectedTokens,
  OUTPUT_STEP,
  tokensOf,
} from "./call-price.ts";
import type { BudgetKey, Ledger, Reservation } from "./ledger.ts";
import { type Room, toNano, toUsd } from "./room.ts";

interface BudgetParts {
  readonly ledger: Ledger;
  readonly prices: ReadonlyMap<string, ModelPrice>;
  /** Calls back at an interval until the returned function is called. @default setInterval */
  readonly every?: (ms: number, run: () => void) => () => void;
}

/** The dearest case of a call. */
interface DearestCase {
  /** The user's text if it is evaluated. */
  readonly evaluated: string | null;
  /** Null if there is no reply. */
  readonly conversation: Conversation | null;
  /** The plans of a reply, dearest first: one of them is used. */
  readonly plans: readonly ReplyPlan[];
}

/** One call's part of a budget: reserved before anything is asked, renewed, and settled once. */
export class CallBudget {
  readonly #key: BudgetKey;
  readonly #parts: BudgetParts;
  #work: Promise<unknown> = Promise.resolve();
  #held: Reservation | null = null;
  #room: Room | null = null;
  #evaluationUsd = 0;
  #tokens: ExpectedTokens = { input: 0, output: 0 };
  /** Null until the reply begins. */
  #spentUsd: (() => number | null) | null = null;
  #stopTimer: () => void = () => undefined;
  /** Whether the reply has no limit of tokens. */
  isOpenEnded = false;

  constructor(key: BudgetKey, parts: BudgetParts) {
    this.#key = key;
    this.#parts = parts;
  }

  /**
   * Reserves the dearest plan that fits, and returns its index.
   *
   * @throws HttpError (400 without a price, 429 without room, 503 without a ledger)
   */
  async reserve({ evaluated, conversation, plans }: DearestCase): Promise<number> {
    const { ledger, prices } = this.#parts;
    if (evaluated !== null) this.#evaluationUsd = evaluationUsd(evaluated);
    if (conversation !== null) {
      this.#tokens = expectedTokens(conversation);
      this.isOpenEnded = conversation.settings.maxOutputTokens === undefined;
    }
    const replies = plans.map((plan) => dearestUsd(plan, this.#tokens, prices));
    const costs =
      replies.length === 0 ? [0] : replies.map((_, at) => Math.max(...replies.slice(at)));
    const amounts = costs.map((usd) => toNano(this.#evaluationUsd + usd));
    const asked = ledger.reserve(this.#key, amounts, 0).catch(() => {
      throw new HttpError(503, unwritable);
    });
    const { reservation, at, room } = await asked;
    this.#room = room;
    if (reservation === null) throw this.#refusal(room);
    this.#held = reservation;
    this.#repeat(() => this.#renew(0));
    return at;
  }

  /** Reduces the reservation to the plan that replies. */
  async begin(plan: ReplyPlan, spentUsd: () => number | null): Promise<void> {
    if (this.#held === null) return;
    this.#spentUsd = spentUsd;
    const usd = this.#evaluationUsd + dearestUsd(plan, this.#tokens, this.#parts.prices);
    await this.#renew(toNano(usd) - this.#held.nano);
  }

  /** Returns a listener that ends a reply without a limit when the budget has no room for more. */
  limit({ onPieces, onBytes }: ReplyListener, plan: ReplyPlan): ReplyListener {
    if (!this.isOpenEnded) return { onPieces, onBytes };
    const usd = dearestUsd(plan, { input: 0, output: OUTPUT_STEP }, this.#parts.prices);
    let left = OUTPUT_STEP;
    return {
      onBytes,
      onPieces: async (pieces) => {
        await onPieces(pieces);
        left -= tokensOf(pieces.map(({ text }) => text).join(""));
        for (; left <= 0; left += OUTPUT_STEP) {
          if (!(await this.#renew(toNano(usd)))) throw new ReplyLimitError();
        }
      },
    };
  }

  /** Charges the call once. An unknown cost is the whole reservation. */
  async settle(
    replyUsd: number | null,
    evaluation: Pick<Decision, "costUsd" | "wire"> | null,
  ): Promise<void> {
    this.#stopTimer();
    const isPaid = evaluation !== null && evaluation.wire !== null;
    const askedUsd = evaluation?.costUsd ?? (isPaid ? this.#evaluationUsd : 0);
    await this.#inTurn(async (held) => {
      const nano = replyUsd === null ? held.nano : toNano(replyUsd + askedUsd);
      this.#room = await this.#parts.ledger.settle(held, nano);
      this.#held = null;
      return true;
    });
    if (this.#held !== null) this.#repeat(() => this.settle(replyUsd, evaluation));
  }

  /** Releases the reservation of a call that ended before its reply. */
  async release(): Promise<void> {
    if (this.#spentUsd === null) await this.settle(0, null);
  }

  /** The headers of the call's answer. */
  headers(): Record<string, string> {
    if (this.#room === null) return {};
    const { nano, resetAtMs } = this.#room;
    return {
      "x-router-budget-remaining-usd": Math.max(0, toUsd(nano)).toFixed(6),
      "x-router-budget-reset": new Date(resetAtMs).toISOString(),
    };
  }

  /** Changes the reservation by an amount; false if it does not fit, or the ledger cannot be written. */
  #renew(byNano: number): Promise<boolean> {
    return this.#inTurn(async (held) => {
      const nano = held.nano + byNano;
      const knownUsd = this.#spentUsd === null ? 0 : this.#spentUsd();
      const knownNano = knownUsd === null ? nano : toNano(this.#evaluationUsd + knownUsd);
      const renewed = await this.#parts.ledger.renew(held, { nano, knownNano });
      this.#held = renewed ?? held;
      return renewed !== null;
    });
  }

  /** Changes run one after the other; false if there is no reservation any more, or it cannot be written. */
  #inTurn(change: (held: Reservation) => Promise<boolean>): Promise<boolean> {
    const run = async () => this.#held !== null && change(this.#held);
    const done = this.#work.then(run).catch(() => false);
    this.#work = done;
    return done;
  }

  #repeat(run: () => Promise<unknown>): void {
    const { ledger, every = everyInterval } = this.#parts;
    this.#stopTimer = every(ledger.leaseMs / 3, () => void run());
  }

  #refusal({ nano, resetAtMs }: Room): HttpError {
    const seconds = Math.ceil((resetAtMs - Date.now()) / 1000);
    const left = `$${Math.max(0, toUsd(nano)).toFixed(6)} of it are left`;
    const reset = new Date(resetAtMs).toISOString();
    const message = `The budget ${this.#key.budget} has no room for this call: ${left}. It is filled again at ${reset}.`;
    const headers = { "x-should-retry": "false" };
    const retryAfter = String(Math.max(1, seconds));
    return new HttpError(429, message, { code: "insufficient_quota", headers, retryAfter });
  }
}

const unwritable =
  "The ledger of the budgets cannot be written, so this router takes no call with a budget; check router-keys.spend.sqlite and its disk.";

function everyInterval(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms).unref();
  return () => clearInterval(timer);
}
