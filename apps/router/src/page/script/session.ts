import type { ChatOutcome, Decision } from "../../decision/decision.ts";
import { findCost, noUsage } from "../../reply/usage.ts";
import { tokens, usd, usdBeside } from "./elements.ts";

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
  let countedTokens: number | null = null;
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
    costsOf: listCosts,
    /** Adds a reply to the sums; costs are compared only if both are known. */
    add({ usage }: ChatOutcome, { paid: paidUsd, frontier }: ReturnType<typeof listCosts>): void {
      sums.messages += 1;
      const total = usage?.totalTokens ?? null;
      if (total !== null) countedTokens = (countedTokens ?? 0) + total;
      if (paidUsd === null || frontier === null) return;
      sums.compared += 1;
      sums.paid += paidUsd;
      sums.frontier += frontier;
    },
    describe(): string {
      const replies = sums.messages === 1 ? "1 reply" : `${sums.messages} replies`;
      const summary = `This page: ${replies}, ${tokens(countedTokens)} tokens`;
      if (sums.compared === 0) return `${summary}, cost unknown.`;
      const savedUsd = sums.frontier - sums.paid;
      const saving = savedUsd >= 0 ? `${usd(savedUsd)} saved` : `${usd(-savedUsd)} more`;
      const printSum = usdBeside(savedUsd);
      return `${summary}, ${printSum(sums.paid)}; on the frontier tier ${printSum(sums.frontier)}: ${saving}.`;
    },
  };
}

/** Costs in US dollars; null if unknown. The frontier tier's is for the same tokens, without a decision. */
function listCosts({ decision: { costUsd, prices }, outcome: { usage } }: PastMessage) {
  const counts = usage && { ...noUsage, input: usage.inputTokens, output: usage.outputTokens };
  const reply = findCost(counts, prices.model);
  const paidUsd = costUsd === null || reply === null ? null : costUsd + reply;
  return { paid: paidUsd, frontier: findCost(counts, prices.frontier) };
}

function messages(): readonly PastMessage[] {
  try {
    const storedValue: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(storedValue) ? (storedValue as PastMessage[]) : [];
  } catch {
    return [];
  }
}

function forget(): void {
  sessionStorage.removeItem(key);
}
