import { hash } from "node:crypto";
import { cutText } from "evaluator-client";
import type { TierState } from "../decision/decision.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { cutMessage } from "../routes/client-request.ts";
import { type ChatCompletionMessage, textOf } from "./chat-completion-request.ts";
import type { RouterOptions } from "../router-options.ts";

interface Turn {
  readonly role: string;
  readonly content?: ChatCompletionMessage["content"];
}

/** The most remembered conversations; the oldest is forgotten. Chosen: a day of many people. */
const MOST_CONVERSATIONS = 10_000;

/** Creates the reader of a context mode; in the mode `sticky`, it remembers each conversation's tier. */
export function createConversationReader(mode: RouterOptions["context"]) {
  const tiers = new Map<string, Tier>();
  return (messages: readonly Turn[]) => {
    const last = messages.findLastIndex(({ role }) => role === "user");
    const earlier = mode === "turns" ? earlierTurns(messages.slice(0, Math.max(0, last))) : "";
    const state: TierState = {
      user_message: last === -1 ? "" : cutMessage(textOf(messages[last]?.content)),
      ...(earlier !== "" && { earlier_turns: earlier }),
    };
    const said = mode === "sticky" ? messages.filter(({ role }) => role === "user") : [];
    const known = new Set([said.slice(0, -1), said].map((part) => tiers.get(keyOf(part))));
    return {
      state,
      /** The lowest tier that may be used; null for any. */
      atLeast: tierNames.findLast((tier) => known.has(tier)) ?? null,
      keep: (tier: Tier): void => {
        if (mode !== "sticky") return;
        const key = keyOf(said);
        tiers.delete(key);
        tiers.set(key, tier);
        const [oldest] = tiers.keys();
        if (tiers.size > MOST_CONVERSATIONS && oldest !== undefined) tiers.delete(oldest);
      },
    };
  };
}

/** Characters of earlier turns: about 500 tokens, as many as the rest of a decision. */
const EARLIER_TURNS_LENGTH = 2000;

/** The newest turns whole, the oldest one cut. */
function earlierTurns(messages: readonly Turn[]): string {
  const turns: string[] = [];
  let left = EARLIER_TURNS_LENGTH;
  for (const { role, content } of messages.toReversed()) {
    const text = role === "user" || role === "assistant" ? textOf(content) : "";
    if (text.trim() === "") continue;
    const turn = cutText(`${role}: ${text}`, left);
    left -= turn.length + 1;
    turns.unshift(turn);
    if (left <= 0) break;
  }
  return turns.join("\n");
}

/** Identifies a conversation by its user's messages, which the next request repeats. */
function keyOf(said: readonly Turn[]): string {
  const texts = said.map(({ content }) => textOf(content));
  const key = texts.map((text) => `${text.length}:${text}`).join("");
  return key && hash("sha256", key, "base64");
}
