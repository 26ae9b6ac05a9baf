import { withoutUndefined } from "../../conversation/conversation.ts";
import { noUsage, type TokenUsage } from "../../reply/usage.ts";
import type { Api, ErrorDetails, ReplyHead, ReplyWriter } from "../api.ts";
import { parseObject } from "../parse-body.ts";
import { cheapValues } from "../request-fields.ts";
import { readMessagesRequest } from "./messages-request.ts";
import type { ReplyEnd, ReplyPiece } from "../../reply/reply-piece.ts";
import type { ServerEvent } from "../../routes/event-stream.ts";

/** Anthropic's Messages API, as Claude Code, `@anthropic-ai/sdk` and `@ai-sdk/anthropic` speak it. */
export const messagesApi: Api = {
  name: "messages",
  upstreamType: "anthropic",
  path: "/v1/messages",
  ownHeader: "anthropic-version",
  count: { path: "/v1/messages/count_tokens", absent: { max_tokens: 1 } },
  overloadedStatus: 529,
  cheapValues,
  clientModels: /^claude-/,
  read: readMessagesRequest,
  write: (replyHead) => new MessagesReply(replyHead),
  modelList: {
    toReplyModel: (modelId, { contextWindow, maxOutputTokens }) => ({
      ...toModel(modelId, modelId),
      ...withoutUndefined({ max_input_tokens: contextWindow, max_tokens: maxOutputTokens }),
    }),
    toDecisionModel: (modelId) => toModel(modelId, `${modelId} (decision model)`),
    toList: (data) => ({
      data,
      has_more: false,
      first_id: data[0]?.id,
      last_id: data.at(-1)?.id,
    }),
  },
  error: messagesError,
};

function toModel(id: string, display_name: string) {
  return { type: "model", id, display_name, created_at: "1970-01-01T00:00:00Z" };
}

/**
 * Writes a reply of the Messages API. Clients read one block at a time, and more of a tool call can
 * follow until the reply ends: the blocks after it wait.
 */
class MessagesReply implements ReplyWriter {
  readonly #commonFields: object;
  readonly #blocksByKey = new Map<string, Block>();
  #open: Block | null = null;
  #replyEnd: ReplyEnd | null = null;

  constructor({ requestId, model }: ReplyHead) {
    this.#commonFields = { id: `msg_${requestId}`, type: "message", role: "assistant", model };
  }

  begin(): ServerEvent[] {
    return [toEvent("message_start", { message: this.whole() })];
  }

  add(pieces: readonly ReplyPiece[]): ServerEvent[] {
    return pieces.flatMap((piece) => this.#addPiece(piece));
  }

  end(replyEnd: ReplyEnd): ServerEvent[] {
    this.#replyEnd = replyEnd;
    const isUnsent = ({ index }: Block) => index > (this.#open?.index ?? -1);
    const unsentBlocks = [...this.#blocksByKey.values()].filter(isUnsent);
    const { usage, ...delta } = this.#outcome();
    return [
      ...unsentBlocks.flatMap((block) => this.#begin(block)),
      ...this.#stop(),
      toEvent("message_delta", { delta, usage }),
      toEvent("message_stop"),
    ];
  }

  fail(message: string, status: number): ServerEvent[] {
    return [{ event: "error", data: messagesError(message, status) }];
  }

  whole() {
    const content = [...this.#blocksByKey.values()].map(toContent);
    return { ...this.#commonFields, content, ...this.#outcome() };
  }

  #addPiece(piece: ReplyPiece): ServerEvent[] {
    const [text, signature] = [piece.text, toSignature(piece)];
    const knownBlock = this.#blocksByKey.get(piece.key);
    const isEmpty = text === "" && signature === "" && piece.type !== "toolCall";
    if (knownBlock === undefined && isEmpty) return []; // clients may not send an empty text back
    const empty = { text: "", signature: "" };
    const block = knownBlock ?? { index: this.#blocksByKey.size, head: toHead(piece), ...empty };
    this.#blocksByKey.set(piece.key, block);
    block.text += text;
    block.signature += signature;
    if (block === this.#open) return toDeltas(block, { text, signature });
    return this.#open?.head.type === "tool_use" ? [] : this.#begin(block);
  }

  #begin(block: Block): ServerEvent[] {
    const { index, head } = block;
    const startEvent = toEvent("content_block_start", { index, content_block: head });
    const events = [...this.#stop(), startEvent, ...toDeltas(block, block)];
    this.#open = block;
    return events;
  }

  #stop(): ServerEvent[] {
    return this.#open === null ? [] : [toEvent("content_block_stop", { index: this.#open.index })];
  }

  #outcome() {
    const hasCall = [...this.#blocksByKey.values()].some(({ head }) => head.type === "tool_use");
    const stop_reason = this.#replyEnd && toStopReason(this.#replyEnd, hasCall);
    const stop_sequence = this.#replyEnd?.stopSequence ?? null;
    return { stop_reason, stop_sequence, usage: toWireUsage(this.#replyEnd?.usage ?? noUsage) };
  }
}

/** A block of the reply, with its text and signature so far. */
interface Block {
  readonly index: number;
  readonly head: ReturnType<typeof toHead>;
  text: string;
  signature: string;
}

function toEvent(type: string, eventFields: object = {}): ServerEvent {
  return { event: type, data: { type, ...eventFields } };
}

function toSignature(replyPiece: ReplyPiece): string {
  return replyPiece.type === "reasoning" ? (replyPiece.signature?.value ?? "") : "";
}

function toHead(replyPiece: ReplyPiece) {
  if (replyPiece.type === "text") return { type: "text", text: "" } as const;
  if (replyPiece.type === "toolCall") {
    const { id = "", name = "" } = replyPiece;
    return { type: "tool_use", id, name, input: {} } as const;
  }
  const data = replyPiece.signature?.metadata["anthropic"]?.["redactedData"];
  if (typeof data === "string") return { type: "redacted_thinking", data } as const;
  return { type: "thinking", thinking: "", signature: "" } as const;
}

function toDeltas(
  { head: { type }, index }: Block,
  { text, signature }: Pick<Block, "text" | "signature">,
): ServerEvent[] {
  if (type === "redacted_thinking") return [];
  const deltas = {
    text: { type: "text_delta", text },
    tool_use: { type: "input_json_delta", partial_json: text },
    thinking: { type: "thinking_delta", thinking: text },
  };
  const ownDeltas = [
    ...(text === "" ? [] : [deltas[type]]),
    ...(signature === "" ? [] : [{ type: "signature_delta", signature }]),
  ];
  return ownDeltas.map((delta) => toEvent("content_block_delta", { index, delta }));
}

function toContent({ head, text, signature }: Block): object {
  if (head.type === "text") return { ...head, text };
  if (head.type === "thinking") return { ...head, thinking: text, signature };
  return head.type === "tool_use" ? { ...head, input: toInput(text) } : head;
}

/** Text that is no object is kept under the name that `@ai-sdk/anthropic` gives it. */
function toInput(inputText: string): object {
  return inputText === "" ? {} : (parseObject(inputText) ?? { rawInvalidInput: inputText });
}

/** Some services end a reply with calls like any other. */
function toStopReason({ finishReason, stopSequence }: ReplyEnd, hasCall: boolean): string {
  if (stopSequence) return "stop_sequence";
  if (finishReason === "length") return "max_tokens";
  if (finishReason === "content-filter") return "refusal";
  return hasCall ? "tool_use" : "end_turn";
}

function toWireUsage({ input, cacheRead, cacheWrite, output, reasoning }: TokenUsage) {
  return {
    input_tokens: input ?? 0,
    cache_creation_input_tokens: cacheWrite ?? 0,
    cache_read_input_tokens: cacheRead ?? 0,
    output_tokens: output ?? 0,
    output_tokens_details: reasoning === null ? null : { thinking_tokens: reasoning },
  };
}

const errorTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  529: "overloaded_error",
};

/** After this, the tool runner of `@anthropic-ai/sdk` sends the whole conversation. */
const withoutThread = { details: { error_code: "thread_unsupported_request" } };

function messagesError(givenText: string, status: number, { param, code }: ErrorDetails = {}) {
  const isTooLong = code === "context_length_exceeded" && !/prompt is too long/i.test(givenText);
  const message = isTooLong ? `prompt is too long: ${givenText}` : givenText; // then Claude Code sums up
  const type = errorTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { type: "error", error: { type, message, ...(param === "thread" && withoutThread) } };
}
