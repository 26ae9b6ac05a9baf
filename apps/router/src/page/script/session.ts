import type { Decision } from "../../decision/decision.ts";
import type { ChatOutcome } from "../../decision/decision.ts";
import { costOf } from "../../reply/tokens.ts";
import { tokens, usd } from "./elements.ts";

/** A message of this session that was replied to. */
export interface PastMessage {
  readonly message: string;
  readonly decision: Decision;
  readonly outcome: ChatOutcome;
  readonly text: string;
  readonly requestId: string | null;
}

const key = "router-exchanges";

/** Messages that are kept; beyond it the oldest goes first. */
const MOST = 50;

/**
 * Returns what this tab has asked: kept in the browser until the tab is closed or somebody forgets
 * it.
 */
export function readHistory(): readonly PastMessage[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? (kept as PastMessage[]) : [];
  } catch {
    return [];
  }
}

/** Keeps a message and its reply; where the browser has no room, or does not want to, nothing is kept. */
export function keepMessage(past: PastMessage): void {
  try {
    const all = [...readHistory(), past].slice(-MOST);
    sessionStorage.setItem(key, JSON.stringify(all));
  } catch {
    forgetHistory();
  }
}

/** Forgets all of it. */
export function forgetHistory(): void {
  sessionStorage.removeItem(key);
}

/** What one message cost, and what it would have cost, in US dollars; null where not known. */
export interface Costs {
  /** The decision and the reply. */
  readonly paid: number | null;
  /** The same tokens at the frontier tier's price, without a decision. */
  readonly frontier: number | null;
}

/** Returns the costs of a message that was replied to. */
export function costsOf({ costUsd, prices }: Decision, { usage }: ChatOutcome): Costs {
  const reply = costOf(usage, prices.model);
  const paid = costUsd === null || reply === null ? null : costUsd + reply;
  return { paid, frontier: costOf(usage, prices.frontier) };
}

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
