import type { Conversation, Message, Part } from "./conversation.ts";

const mark = { anthropic: { cacheControl: { type: "ephemeral" } } };

/**
 * Marks tools, system text and the last two steps for the cache of Anthropic's models, which keeps nothing
 * else. Marks of the client stay alone, and a single question without tools gets none: it would only cost more.
 */
export function withCacheMarks(conversation: Conversation): Conversation {
  const { messages, tools } = conversation;
  const isOnce = tools.length === 0 && messages.every(({ role }) => role !== "assistant");
  if (isOnce || hasMark(conversation)) return conversation;
  const firstTurnIndex = messages.findIndex(({ role }) => role !== "system");
  const userIndexes = [...messages.keys()].filter((at) => messages[at]?.role === "user").slice(-2);
  const markedPlaces = new Set([firstTurnIndex - 1, ...userIndexes]);
  return {
    ...conversation,
    tools: withLastMark(tools),
    messages: messages.map((message, at) => (markedPlaces.has(at) ? withMark(message) : message)),
  };
}

function withMark({ role, parts }: Message): Message {
  return { role, parts: withLastMark(parts) };
}

function hasMark({ messages, tools, providerOptions }: Conversation): boolean {
  const messageParts = messages.flatMap((message) => message.parts);
  const inner = messageParts.flatMap((part) => (part.type === "toolResult" ? part.parts : []));
  const all = [{ providerOptions }, ...tools, ...messageParts, ...inner];
  return all.some((each) => each.providerOptions?.["anthropic"]?.["cacheControl"] !== undefined);
}

/** An empty text can have no mark. */
function withLastMark<TPart extends Pick<Part, "providerOptions">>(parts: readonly TPart[]) {
  const last = parts.findLastIndex((part) => !("text" in part) || part.text !== "");
  return parts.map((part, at): TPart => {
    return at === last ? { ...part, providerOptions: { ...part.providerOptions, ...mark } } : part;
  });
}
