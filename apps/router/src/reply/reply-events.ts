import { type TokenUsage, toTokenUsage } from "./reply.ts";

/** A reply that broke off or grew too large; the message is the router's own. */
export class BrokenReplyError extends Error {
  override readonly name = "BrokenReplyError";
}

/** A piece of a tool call in a service's event. */
export interface ToolPiece {
  /** The service's own id or number of the tool call. */
  readonly key: string | number;
  readonly id?: string;
  readonly name?: string;
  /** The next part of the arguments. */
  readonly text: string;
  /** Whether the text is all of the arguments, which may have come in pieces before. */
  readonly isWhole?: boolean;
}

/** The parts of one event for the router, and the rest for the `ai` package. */
interface ReadPart {
  readonly text: string;
  /** The event's data for the `ai` package, or null. */
  readonly rest: string | null;
  readonly tools?: readonly ToolPiece[];
  readonly usage?: TokenUsage;
  /** Whether the reply ends with it. */
  readonly isEnd?: boolean;
}

/** Reads the data of one event. Throws a BrokenReplyError for an error event or invalid JSON. */
export type ReadEvent = (data: string) => ReadPart;

const nothing: ReadPart = { text: "", rest: null };

/** Reads an event of the gateway's stream (language model specification v4). */
export const gatewayEvents: ReadEvent = (data) => {
  if (data === "[DONE]") return { text: "", rest: data }; // some gateways end with this mark
  const part = parsePart(data);
  const { type, id, delta, toolName, toolCallId, input } = part;
  switch (type) {
    case "text-delta":
      return typeof delta === "string" ? { text: delta, rest: null } : { text: "", rest: data };
    case "reasoning-delta":
      return nothing; // clients are not shown it
    case "error":
      throw new BrokenReplyError(wordsOf(part.error));
    case "tool-input-start":
      return toolPart({ key: String(id), id: String(id), name: String(toolName), text: "" });
    case "tool-input-delta":
      return toolPart({ key: String(id), text: String(delta) });
    case "tool-input-end":
      return toolPart({ key: String(id), text: "" });
    case "tool-call": {
      const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
      const key = String(toolCallId);
      return toolPart({ key, id: key, name: String(toolName), text, isWhole: true });
    }
    case "finish": {
      const { inputTokens, outputTokens } = (part.usage ?? {}) as Record<string, Total | null>;
      const usage = toTokenUsage(inputTokens?.total, outputTokens?.total);
      return { text: "", rest: data, usage, isEnd: true };
    }
    default:
      return { text: "", rest: data };
  }
};

interface Total {
  readonly total?: unknown;
}

function toolPart(piece: ToolPiece): ReadPart {
  return { text: "", rest: null, tools: [piece] };
}

/** Reads an event of OpenAI's chat API, as many servers send it. */
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
  const counts = part.usage as Record<string, unknown> | null | undefined;
  if (!isEnd && counts == null)
    return text === "" && !tools ? nothing : { text, rest: null, ...tools };
  const choices = choice ? [{ ...choice, delta: {} }] : [];
  const rest = JSON.stringify({ ...part, choices });
  const usage = counts && {
    usage: toTokenUsage(counts["prompt_tokens"], counts["completion_tokens"]),
  };
  return { text, rest, isEnd, ...tools, ...usage };
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

/** The fields of an event that are read, of any service. */
type StreamPart = Readonly<
  Partial<
    Record<
      "type" | "id" | "delta" | "toolName" | "toolCallId" | "input" | "choices" | "usage" | "error",
      unknown
    >
  >
>;

function parsePart(data: string): StreamPart {
  try {
    return (JSON.parse(data) ?? {}) as StreamPart;
  } catch (error) {
    const message = "The reply broke off: the model's service sent an event that is not JSON.";
    throw new BrokenReplyError(message, { cause: error });
  }
}

/** An error is a text, or an object with a message. */
function wordsOf(error: unknown): string {
  const isObject = typeof error === "object" && error !== null && "message" in error;
  const given: unknown = isObject ? error.message : error;
  const words = typeof given === "string" && given !== "" ? given : "its service gave no reason.";
  return `The reply broke off: ${words}`;
}
