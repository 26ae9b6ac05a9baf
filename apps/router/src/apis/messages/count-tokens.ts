import { type Conversation, filesOf, textOf } from "../../conversation/conversation.ts";
import { estimateTokens } from "../../reply/usage.ts";

/** Anthropic's count of the largest image that it does not shrink. */
const TOKENS_PER_FILE = 1600;

/** Estimates the tokens of texts, calls, results and tools by their lengths; each image or file is 1,600. */
export function countTokens({ messages, tools }: Conversation): number {
  const parts = messages.flatMap((message) => message.parts);
  const characters = textOf(parts).length + JSON.stringify(tools).length;
  return estimateTokens(characters) + parts.flatMap(filesOf).length * TOKENS_PER_FILE;
}
