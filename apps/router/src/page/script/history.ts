import type { ChatOutcome } from "../../routes/chat-response.ts";
import type { Decision } from "../../decision/decision.ts";

/** A message of this session that was replied to. */
export interface PastExchange {
  readonly message: string;
  readonly decision: Decision;
  readonly outcome: ChatOutcome;
  readonly text: string;
  readonly requestId: string | null;
}

const key = "router-exchanges";

/** Exchanges that are kept; beyond it the oldest goes first. */
const MOST = 50;

/**
 * Returns what this tab has asked: kept in the browser until the tab is closed or somebody forgets
 * it.
 */
export function readHistory(): readonly PastExchange[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? (kept as PastExchange[]) : [];
  } catch {
    return [];
  }
}

/** Keeps an exchange; where the browser has no room, or does not want to, nothing is kept. */
export function keepExchange(exchange: PastExchange): void {
  try {
    const all = [...readHistory(), exchange].slice(-MOST);
    sessionStorage.setItem(key, JSON.stringify(all));
  } catch {
    forgetHistory();
  }
}

/** Forgets all of it. */
export function forgetHistory(): void {
  sessionStorage.removeItem(key);
}
