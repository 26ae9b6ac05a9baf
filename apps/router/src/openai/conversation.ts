import { createHash } from "node:crypto";
import { cutText } from "evaluator-client";
import type { ContextMode, TierState } from "../decision/decision.ts";
import { cutMessage } from "../routes/client-request.ts";
import { type Tier, tierNames } from "../tier-question.ts";
import type { ChatCompletionMessage } from "./chat-completion-schema.ts";
import { textOf } from "./to-reply-request.ts";

/** What of a conversation is decided by. */
interface Conversation {
  readonly state: TierState;
  /** The least tier that is taken: a conversation's tier only rises; null for any. */
  readonly atLeast: Tier | null;
  /** Called with the tier that was taken. */
  readonly keep: (tier: Tier) => void;
}

/** Reads what of a conversation is decided by. */
export type ReadConversation = (messages: readonly ChatCompletionMessage[]) => Conversation;

/** Characters of earlier turns that are read: some 500 tokens, as many as a decision else costs. */
const EARLIER_TURNS_LENGTH = 2000;

/**
 * Conversations whose tier is remembered; beyond it the one asked about longest ago is forgotten.
 * Chosen, not measured: a day of many people, and few enough to keep.
 */
const MOST_CONVERSATIONS = 10_000;

/** Returns a function that reads a conversation: its state, and the tier that it keeps. */
export function createConversationReader(mode: ContextMode): ReadConversation {
  const always = { atLeast: null, keep: () => undefined };
  switch (mode) {
    case "last":
      return (messages) => ({ state: { user_message: lastOf(messages) }, ...always });
    case "turns":
      return (messages) => {
        const earlier_turns = earlierTurns(messages);
        const state = { user_message: lastOf(messages) };
        return { state: earlier_turns === "" ? state : { ...state, earlier_turns }, ...always };
      };
    case "sticky":
    default: {
      const tiers = createTierMemory();
      return (messages) => {
        const said = messages.filter(({ role }) => role === "user");
        const keys = [keyOf(said.slice(0, -1)), keyOf(said)];
        return {
          state: { user_message: lastOf(messages) },
          atLeast: tiers.highestOf(keys),
          keep: (tier) => tiers.keep(keyOf(said), tier),
        };
      };
    }
  }
}

function lastOf(messages: readonly ChatCompletionMessage[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last === undefined ? "" : cutMessage(textOf(last.content));
}

/** The turns before the last user message, the newest whole, the oldest cut. */
function earlierTurns(messages: readonly ChatCompletionMessage[]): string {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const turns: string[] = [];
  let left = EARLIER_TURNS_LENGTH;
  for (const { role, content } of messages.slice(0, Math.max(0, last)).toReversed()) {
    const text = role === "user" || role === "assistant" ? textOf(content) : "";
    if (text.trim() === "") continue;
    const turn = cutText(`${role}: ${text}`, left);
    left -= turn.length + 1;
    turns.unshift(turn);
    if (left <= 0) break;
  }
  return turns.join("\n");
}

/**
 * What a conversation is known by: everything its user said so far. The next request repeats it, and
 * nobody need name the conversation.
 */
function keyOf(said: readonly ChatCompletionMessage[]): string {
  const hash = createHash("sha256");
  for (const { content } of said) {
    const text = textOf(content);
    hash.update(`${text.length}:${text}`);
  }
  return said.length === 0 ? "" : hash.digest("base64");
}

function createTierMemory() {
  const tiers = new Map<string, Tier>();
  return {
    highestOf(keys: readonly string[]): Tier | null {
      const known = new Set(keys.map((key) => tiers.get(key)));
      return tierNames.findLast((tier) => known.has(tier)) ?? null;
    },
    keep(key: string, tier: Tier): void {
      tiers.delete(key);
      tiers.set(key, tier);
      const [oldest] = tiers.keys();
      if (tiers.size > MOST_CONVERSATIONS && oldest !== undefined) tiers.delete(oldest);
    },
  };
}
