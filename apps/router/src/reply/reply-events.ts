import { openAiUsage, type TokenUsage, wireUsage } from "../prices/tokens.ts";

/** A reply that broke off or grew too large; the message is the router's own. */
export class BrokenReplyError extends Error {
  override readonly name = "BrokenReplyError";
}

/** A piece of a tool call, as a service's event brings it. */
export interface ToolPiece {
  /** Which of the reply's tool calls: the service's own id or number. */
  readonly key: string | number;
  readonly id?: string;
  readonly name?: string;
  /** What is added to the arguments. */
  readonly text: string;
  /** Whether the text is all of the arguments, which may have come in pieces before. */
  readonly isWhole?: boolean;
}

const notJson = "The reply broke off: the model's service sent an event that is not JSON.";

/** What the router takes itself from one streamed event; the `ai` package is given what is left. */
interface ReadPart {
  /** A piece of the reply; empty where it holds none. */
  readonly text: string;
  /** The data of the event for the `ai` package, or null when nothing is left for it. */
  readonly rest: string | null;
  readonly tools?: readonly ToolPiece[];
  readonly usage?: TokenUsage;
  /** Whether it is the reply's own end. */
  readonly isEnd?: boolean;
}

/** Reads the data of one event. Throws a BrokenReplyError for one that is an error, or no JSON. */
export type ReadEvent = (data: string) => ReadPart;

const nothing: ReadPart = { text: "", rest: null };

/** Reads an event of the gateway's own stream. */
export const gatewayEvents: ReadEvent = (data) => {
  if (data === "[DONE]") return { text: "", rest: data }; // the mark that some end theirs with
  const part = parsePart(data);
  if (part.type === "reasoning-delta") return nothing; // nobody is shown it
  if (part.type === "text-delta" && typeof part.delta === "string") {
    return { text: part.delta, rest: null };
  }
  if (part.type === "error") throw new BrokenReplyError(wordsOf(part.error));
  const tool = toolPieceOf(part);
  if (tool !== null) return { text: "", rest: null, tools: [tool] };
  if (part.type !== "finish") return { text: "", rest: data };
  return { text: "", rest: data, usage: wireUsage(part.usage), isEnd: true };
};

/** What the gateway's stream says of a tool call (language model specification v4). */
interface ToolPart {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly delta?: unknown;
  readonly toolName?: unknown;
  readonly toolCallId?: unknown;
  readonly input?: unknown;
}

function toolPieceOf({ type, id, delta, toolName, toolCallId, input }: ToolPart): ToolPiece | null {
  switch (type) {
    case "tool-input-start":
      return { key: String(id), id: String(id), name: String(toolName), text: "" };
    case "tool-input-delta":
      return { key: String(id), text: String(delta) };
    case "tool-input-end":
      return { key: String(id), text: "" };
    case "tool-call": {
      const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
      const key = String(toolCallId);
      return { key, id: key, name: String(toolName), text, isWhole: true };
    }
    default:
      return null;
  }
}

/** Reads an event of OpenAI's chat API, as many servers speak it. */
export const openAiEvents: ReadEvent = (data) => {
  if (data === "[DONE]") return { text: "", rest: data, isEnd: true };
  const part = parsePart(data);
  if (part.error !== undefined && part.error !== null) {
    throw new BrokenReplyError(wordsOf(part.error));
  }
  const choice = Array.isArray(part.choices) ? (part.choices[0] as OpenAiChoice | undefined) : null;
  const content = choice?.delta?.content;
  const text = typeof content === "string" ? content : "";
  const called = choice?.delta?.tool_calls;
  const tools = Array.isArray(called) ? { tools: called.map(toToolPiece) } : null;
  const isEnd = typeof choice?.finish_reason === "string";
  const hasUsage = part.usage !== undefined && part.usage !== null;
  if (!isEnd && !hasUsage) return text === "" && !tools ? nothing : { text, rest: null, ...tools };
  const choices = choice ? [{ ...choice, delta: {} }] : [];
  const rest = JSON.stringify({ ...part, choices });
  return { text, rest, isEnd, ...tools, ...(hasUsage && { usage: openAiUsage(part.usage) }) };
};

interface OpenAiChoice {
  readonly delta?: { readonly content?: unknown; readonly tool_calls?: unknown } | null;
  readonly finish_reason?: unknown;
}

interface OpenAiToolCall {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

/** Some servers send each call whole and without its number. */
function toToolPiece(call: OpenAiToolCall | null, position: number): ToolPiece {
  const { index, id, function: called } = call ?? {};
  const named = typeof id === "string" && id !== "" ? id : null;
  const text = called?.arguments ?? "";
  return {
    key: typeof index === "number" ? index : (named ?? position),
    ...(named !== null && { id: named }),
    ...(typeof called?.name === "string" && { name: called.name }),
    text: typeof text === "string" ? text : JSON.stringify(text),
  };
}

/** What is looked at in an event, whoever sent it. */
interface StreamPart {
  readonly type?: unknown;
  readonly delta?: unknown;
  readonly choices?: unknown;
  readonly usage?: unknown;
  readonly error?: unknown;
}

function parsePart(data: string): StreamPart {
  try {
    return (JSON.parse(data) ?? {}) as StreamPart;
  } catch (error) {
    throw new BrokenReplyError(notJson, { cause: error });
  }
}

/** What is sent for an error is a text, or an object with a message. */
function wordsOf(error: unknown): string {
  const isObject = typeof error === "object" && error !== null && "message" in error;
  const given: unknown = isObject ? error.message : error;
  const words = typeof given === "string" && given !== "" ? given : "its service did not say why.";
  return `The reply broke off: ${words}`;
}
