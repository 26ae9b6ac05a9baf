import type { ChatOutcome, Decision } from "../../decision/decision.ts";
import { costOf, noUsage } from "../../reply/usage.ts";
import { tokens, usd } from "./elements.ts";

/** A message with its reply. */
export interface PastMessage {
  readonly message: string;
  readonly decision: Decision;
  readonly outcome: ChatOutcome;
  readonly text: string;
  readonly requestId: string | null;
}

const key = "router-exchanges";

/** The most messages; the oldest is removed first. */
const MOST = 50;

/** The messages of a tab, kept in the browser until the tab is closed, and the sums of the page. */
export function createSession() {
  const sums = { messages: 0, compared: 0, paid: 0, frontier: 0 };
  let counted: number | null = null;
  return {
    messages,
    /** Keeps a message; if the browser has no room, none is kept. */
    keep(past: PastMessage): void {
      try {
        sessionStorage.setItem(key, JSON.stringify([...messages(), past].slice(-MOST)));
      } catch {
        forget();
      }
    },
    forget,
    costsOf,
    /** Adds a reply to the sums; costs are compared only if both are known. */
    add({ usage }: ChatOutcome, { paid, frontier }: ReturnType<typeof costsOf>): void {
      sums.messages += 1;
      const total = usage?.totalTokens ?? null;
      if (total !== null) counted = (counted ?? 0) + total;
      if (paid === null || frontier === null) return;
      sums.compared += 1;
      sums.paid += paid;
      sums.frontier += frontier;
    },
    describe(): string {
      const replies = sums.messages === 1 ? "1 reply" : `${sums.messages} replies`;
      const seen = `This page: ${replies}, ${tokens(counted)} tokens`;
      if (sums.compared === 0) return `${seen}, cost unknown.`;
      const saved = sums.frontier - sums.paid;
      const saving = saved >= 0 ? `${usd(saved)} saved` : `${usd(-saved)} more`;
      return `${seen}, ${usd(sums.paid)}; on the frontier tier ${usd(sums.frontier)}: ${saving}.`;
    },
  };
}

/** Costs in US dollars; null if unknown. The frontier tier's is for the same tokens, without a decision. */
function costsOf({ decision: { costUsd, prices }, outcome: { usage } }: PastMessage) {
  const counts = usage && { ...noUsage, input: usage.inputTokens, output: usage.outputTokens };
  const reply = costOf(counts, prices.model);
  const paid = costUsd === null || reply === null ? null : costUsd + reply;
  return { paid, frontier: costOf(counts, prices.frontier) };
}

function messages(): readonly PastMessage[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? (kept as PastMessage[]) : [];
  } catch {
    return [];
  }
}

function forget(): void {
  sessionStorage.removeItem(key);
}
