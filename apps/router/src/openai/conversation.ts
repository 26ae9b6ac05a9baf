import type { TierState } from "../decision/decision.ts";
import { cutMessage } from "../routes/read-message.ts";
import type { ChatCompletionMessage } from "./chat-completion-request.ts";
import { textOf } from "./to-reply-request.ts";

/** What of a conversation is decided by. */
interface Conversation {
  readonly state: TierState;
}

/** Reads what of a conversation is decided by. */
export type ReadConversation = (messages: readonly ChatCompletionMessage[]) => Conversation;

/** Reads the last user message alone. */
export const lastMessage: ReadConversation = (messages) => {
  const last = messages.findLast(({ role }) => role === "user");
  return { state: { user_message: last === undefined ? "" : cutMessage(textOf(last.content)) } };
};
