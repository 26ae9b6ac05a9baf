import { type Conversation, filesOf, textOf } from "./conversation.ts";

type File = ReturnType<typeof filesOf>[number];

/** Anthropic's count of the largest image that it does not shrink. */
export const TOKENS_PER_IMAGE = 1600;

/** Returns the most tokens that a text is expected to have: few tokenizers make more of it. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}

/**
 * Returns the input of a conversation with its tools and files, and the number of files whose length is not
 * known. `count` counts the tokens of a text: the most for a reservation, or an estimate for a charge.
 */
export function inputTokensOf(
  { messages, tools, format }: Pick<Conversation, "messages" | "tools" | "format">,
  count = tokensOf,
): { input: number; files: number } {
  const parts = messages.flatMap((message) => message.parts);
  const files = parts.flatMap(filesOf);
  const known = files.filter((file) => !isOfUnknownLength(file));
  const rules = tools.length === 0 && format === null ? "" : JSON.stringify([tools, format]);
  const texts = count(textOf(parts) + rules);
  const input = known.reduce((sum, { type, url }) => {
    return sum + (type === "image" ? TOKENS_PER_IMAGE : count(url));
  }, texts);
  return { input, files: files.length - known.length };
}

/** A document is compressed, or at another address: its bytes do not limit its tokens. */
function isOfUnknownLength({ type, url }: File): boolean {
  return type === "file" && !/^data:(?:text|audio)\//i.test(url);
}
