import type { ChatOutcome } from "../../routes/chat-response.ts";
import type { Decision } from "../../decision/decision.ts";

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
