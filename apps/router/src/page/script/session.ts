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

const storageKey = "router-exchanges";

/** The most messages; the oldest is removed first. */
const MOST = 50;

/** The messages of a tab, kept in the browser until the tab is closed, and the sums of the page. */
export function createSession() {
  const messageSums = { messages: 0, compared: 0, paid: 0, frontier: 0 };
  let countedTokens: number | null = null;
  return {
    messages,
    /** Keeps a message; if the browser has no room, none is kept. */
    keep(past: PastMessage): void {
      try {
        sessionStorage.setItem(storageKey, JSON.stringify([...messages(), past].slice(-MOST)));
      } catch {
        forget();
      }
    },
    forget,
    costsOf: listCosts,
    /** Adds a reply to the sums; costs are compared only if both are known. */
    add({ usage }: ChatOutcome, { paid: paidUsd, frontier }: ReturnType<typeof listCosts>): void {
      messageSums.messages += 1;
      const totalTokens = usage?.totalTokens ?? null;
      if (totalTokens !== null) countedTokens = (countedTokens ?? 0) + totalTokens;
      if (paidUsd === null || frontier === null) return;
      messageSums.compared += 1;
      messageSums.paid += paidUsd;
      messageSums.frontier += frontier;
    },
    describe(): string {
      const replies = messageSums.messages === 1 ? "1 reply" : `${messageSums.messages} replies`;
      const summaryText = `This page: ${replies}, ${tokens(countedTokens)} tokens`;
      if (messageSums.compared === 0) return `${summaryText}, cost unknown.`;
      const savedUsd = messageSums.frontier - messageSums.paid;
      const savingText = savedUsd >= 0 ? `${usd(savedUsd)} saved` : `${usd(-savedUsd)} more`;
      const printSum = usdBeside(savedUsd);
      return `${summaryText}, ${printSum(messageSums.paid)}; on the frontier tier ${printSum(messageSums.frontier)}: ${savingText}.`;
    },
  };
}

/** Costs in US dollars; null if unknown. The frontier tier's is for the same tokens, without a decision. */
function listCosts({ decision: { costUsd, prices }, outcome: { usage } }: PastMessage) {
  const usageCounts = usage && { ...noUsage, input: usage.inputTokens, output: usage.outputTokens };
  const replyUsd = findCost(usageCounts, prices.model);
  const paidUsd = costUsd === null || replyUsd === null ? null : costUsd + replyUsd;
  return { paid: paidUsd, frontier: findCost(usageCounts, prices.frontier) };
}

function messages(): readonly PastMessage[] {
  try {
    const storedValue: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(storedValue) ? (storedValue as PastMessage[]) : [];
  } catch {
    return [];
  }
}

function forget(): void {
  sessionStorage.removeItem(storageKey);
}
