import type { Api, ApiRequest, ReplyHead, ReplyWriter } from "../api.ts";
import { openAiClientModels, openAiError, openAiModels, toOpenAiUsage } from "../openai-form.ts";
import { toObject } from "../parse-body.ts";
import { cheapValues } from "../request-fields.ts";
import { readChatRequest } from "./chat-request.ts";
import type { ReplyEnd, ReplyPiece, ToolCallPiece } from "../../reply/reply-piece.ts";
import type { ServerEvent } from "../../routes/event-stream.ts";

/** OpenAI's chat completions API. */
export const chatApi: Api = {
  name: "openai",
  upstreamType: "openai-chat",
  path: "/v1/chat/completions",
  ownHeader: null,
  count: null,
  overloadedStatus: 503,
  cheapValues,
  clientModels: openAiClientModels,
  read: readChatRequest,
  write: (replyHead, request) => new ChatReply(replyHead, request),
  modelList: openAiModels,
  error: openAiError,
};

class ChatReply implements ReplyWriter {
  readonly #commonFields: object;
  readonly #hasUsage: boolean;
  readonly #toolCalls = new Map<string, ToolCall>();
  #replyText = "";
  #reasoning = "";
  #finalFields: { readonly finish_reason: string; readonly usage: object } | null = null;

  constructor({ requestId, createdAt, model }: ReplyHead, { body }: ApiRequest) {
    this.#commonFields = { id: `chatcmpl-${requestId}`, created: createdAt, model };
    this.#hasUsage = toObject(body["stream_options"])["include_usage"] === true;
  }

  begin(): ServerEvent[] {
    return [this.#chunk({ role: "assistant", content: "" })];
  }

  add(pieces: readonly ReplyPiece[]): ServerEvent[] {
    return pieces.flatMap((piece) => this.#toDeltas(piece)).map((delta) => this.#chunk(delta));
  }

  end(replyEnd: ReplyEnd): ServerEvent[] {
    const usage = toOpenAiUsage(replyEnd.usage, "prompt", "completion");
    const finish_reason = finishReasons[replyEnd.finishReason] ?? "stop";
    this.#finalFields = { finish_reason, usage };
    const usageChunk = { ...this.#commonFields, object: chunkType, choices: [], usage };
    const usageEvents = this.#hasUsage ? [{ data: usageChunk }] : [];
    return [this.#chunk({}, finish_reason), ...usageEvents, { data: "[DONE]" }];
  }

  fail(message: string, status: number): ServerEvent[] {
    return [{ data: openAiError(message, status) }];
  }

  whole(): object {
    const tool_calls = [...this.#toolCalls.values()].map(({ call }) => call);
    const hasCalls = tool_calls.length > 0;
    const message = {
      role: "assistant",
      content: this.#replyText === "" && hasCalls ? null : this.#replyText,
      refusal: null,
      ...(this.#reasoning !== "" && { reasoning_content: this.#reasoning }),
      ...(hasCalls && { tool_calls }),
    };
    const { finish_reason, usage } = this.#finalFields ?? {};
    const choices = [{ index: 0, message, logprobs: null, finish_reason }];
    return { ...this.#commonFields, object: "chat.completion", choices, usage };
  }

  #chunk(delta: object, finish_reason: string | null = null): ServerEvent {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return { data: { ...this.#commonFields, object: chunkType, choices } };
  }

  #toDeltas(piece: ReplyPiece): object[] {
    if (piece.type === "toolCall") return [{ tool_calls: [this.#toCallDelta(piece)] }];
    const { type, text } = piece;
    if (text === "") return [];
    if (type === "text") this.#replyText += text;
    else this.#reasoning += text;
    return [type === "text" ? { content: text } : { reasoning_content: text }];
  }

  #toCallDelta({ key, id, name, text, signature }: ToolCallPiece) {
    const newCall = { index: this.#toolCalls.size, call: { function: { arguments: "" } } };
    const { index, call } = this.#toolCalls.get(key) ?? newCall;
    const callFields = {
      ...(id !== undefined && { id, type: "function" }),
      ...(signature && { extra_content: { google: { thought_signature: signature.value } } }),
    };
    const nameField = { ...(name !== undefined && { name }) };
    const wholeCall = { ...call.function, ...nameField, arguments: call.function.arguments + text };
    this.#toolCalls.set(key, { index, call: { ...call, ...callFields, function: wholeCall } });
    return { index, ...callFields, function: { ...nameField, arguments: text } };
  }
}

const chunkType = "chat.completion.chunk";

/** A tool call as received so far. */
interface ToolCall {
  readonly index: number;
  readonly call: { readonly function: { readonly arguments: string } };
}

const finishReasons: Partial<Record<ReplyEnd["finishReason"], string>> = {
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};
