import type { TierState } from "../decision/decision.ts";
import { cutMessage } from "../routes/client-request.ts";
import { type ChatCompletionMessage, textOf } from "./chat-completion-request.ts";

interface Message {
  readonly role: string;
  readonly content?: ChatCompletionMessage["content"];
}

/** Returns the state of a conversation: its last user message, or "" without one. */
export function toTierState(messages: readonly Message[]): TierState {
  const last = messages.findLast(({ role }) => role === "user");
  return { user_message: cutMessage(textOf(last?.content)) };
}
