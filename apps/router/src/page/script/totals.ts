import type { ChatOutcome } from "../../chat/chat-response.ts";
import type { Costs } from "./costs.ts";
import { tokens, usd } from "./format.ts";

/** Adds up what the page has seen. */
export interface Totals {
  readonly add: (response: ChatOutcome, costs: Costs) => void;
  /** The sums as a sentence. */
  readonly describe: () => string;
}

/** Starts at nothing; only messages whose two costs are known are compared. */
export function createTotals(): Totals {
  const sums = { messages: 0, compared: 0, paid: 0, frontier: 0 };
  let counted: number | null = null;
  return {
    add({ usage }, { paid, frontier }) {
      sums.messages += 1;
      const total = usage?.totalTokens ?? null;
      if (total !== null) counted = (counted ?? 0) + total;
      if (paid === null || frontier === null) return;
      sums.compared += 1;
      sums.paid += paid;
      sums.frontier += frontier;
    },
    describe() {
      const replies = sums.messages === 1 ? "1 reply" : `${sums.messages} replies`;
      const seen = `This page: ${replies}, ${tokens(counted)} tokens`;
      if (sums.compared === 0) return `${seen}, cost unknown.`;
      const costs = `${usd(sums.paid)}; on the frontier tier ${usd(sums.frontier)}`;
      return `${seen}, ${costs}: ${describeSaving(sums.frontier - sums.paid)}.`;
    },
  };
}

function describeSaving(saved: number): string {
  return saved >= 0 ? `${usd(saved)} saved` : `${usd(-saved)} more`;
}
