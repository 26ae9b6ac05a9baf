import { isRecord, parseJson } from "evaluator-kit";
import { replaceValues } from "./replace-values.ts";
import type { Target } from "./upstream.ts";

/** Returns a model of Anthropic behind OpenAI's chat API with a service that gets marks for its cache. */
export function withChatMarks(target: Target): Target {
  const { upstream } = target;
  const send: typeof upstream.send = (requestUrl, { headers, body }, signal) =>
    upstream.send(requestUrl, { headers, body: markChat(body) }, signal);
  return { ...target, upstream: { ...upstream, send } };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Marks the end of the system text, whose prefix has the tools, and of the last two steps, as OpenRouter and LiteLLM
 * take marks. A client's own marks stay alone, and a single question without tools gets none.
 */
function markChat(bodyJson: string): string {
  if (bodyJson.includes('"cache_control"')) return bodyJson;
  const { messages: givenValue, tools } = Object(parseJson(bodyJson)) as Fields;
  const messages = Array.isArray(givenValue) ? (givenValue as unknown[]).filter(isRecord) : [];
  const isOnce = tools === undefined && messages.every(({ role }) => role !== "assistant");
  if (isOnce || messages.length === 0) return bodyJson;
  const stepEnds = [...messages.keys()].filter((messageIndex) => {
    const [role, next] = [findKind(messages[messageIndex]), findKind(messages[messageIndex + 1])];
    return role === "step" && next !== "step";
  });
  const firstTurnIndex = messages.findIndex((message) => findKind(message) !== "system");
  const markedPlaces = new Set([firstTurnIndex - 1, ...stepEnds.slice(-2)]);
  const markedMessages = messages.map((message, messageIndex) =>
    markedPlaces.has(messageIndex) ? withMark(message) : message,
  );
  return replaceValues(bodyJson, { messages: markedMessages });
}

function findKind(message: Fields | undefined): "system" | "step" | null {
  const role = message?.["role"];
  if (role === "system" || role === "developer") return "system";
  return role === "user" || role === "tool" ? "step" : null;
}

const cache_control = { type: "ephemeral" };

/** The last part that has content gets the mark: an empty text can have none. */
function withMark(message: Fields): Fields {
  const { content } = message;
  const parts: unknown = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(parts)) return message;
  const lastIndex = parts.findLastIndex((part) => isRecord(part) && part["text"] !== "");
  if (lastIndex === -1) return message;
  const end = parts[lastIndex] as Fields;
  return { ...message, content: parts.with(lastIndex, { ...end, cache_control }) as unknown[] };
}
