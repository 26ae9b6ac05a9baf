import type { ReplyEnd, ReplyPiece, ToolCallPiece } from "../../reply/reply-piece.ts";
import type { TokenUsage } from "../../reply/usage.ts";
import type { ApiRequest, ReplyHead, ReplyWriter } from "../api.ts";
import type { ServerEvent } from "../../routes/event-stream.ts";
import { openAiError } from "../openai-form.ts";
import { isObject } from "../parse-body.ts";

/** Writes a reply of the chat completions API. */
export class ChatReply implements ReplyWriter {
  readonly #head: object;
  readonly #hasUsage: boolean;
  readonly #calls = new Map<string, ToolCall>();
  #text = "";
  #reasoning = "";
  #end!: ReplyEnd;

  constructor({ requestId, createdAt: created, model }: ReplyHead, { body }: ApiRequest) {
    const { stream_options: options } = body;
    this.#head = { id: `chatcmpl-${requestId}`, created, model };
    this.#hasUsage = isObject(options) && options["include_usage"] === true;
  }

  begin(): ServerEvent[] {
    return [this.#chunk({ role: "assistant", content: "" })];
  }

  add(pieces: readonly ReplyPiece[]): ServerEvent[] {
    return pieces.flatMap((piece) => this.#toDeltas(piece)).map((delta) => this.#chunk(delta));
  }

  end(end: ReplyEnd): ServerEvent[] {
    this.#end = end;
    const last = this.#chunk({}, finishReasons[end.finishReason] ?? "stop");
    const usage = { ...this.#head, object: chunkType, choices: [], usage: toWireUsage(end.usage) };
    return [last, ...(this.#hasUsage ? [{ data: usage }] : []), { data: "[DONE]" }];
  }

  fail(message: string, status: number): ServerEvent[] {
    return [{ data: openAiError(message, status) }];
  }

  whole(): object {
    const { finishReason, usage } = this.#end;
    const tool_calls = [...this.#calls.values()].map(({ call }) => call);
    const hasCalls = tool_calls.length > 0;
    const message = {
      role: "assistant",
      content: this.#text === "" && hasCalls ? null : this.#text,
      refusal: null,
      ...(this.#reasoning !== "" && { reasoning_content: this.#reasoning }),
      ...(hasCalls && { tool_calls }),
    };
    const finish_reason = finishReasons[finishReason] ?? "stop";
    const choices = [{ index: 0, message, logprobs: null, finish_reason }];
    return { ...this.#head, object: "chat.completion", choices, usage: toWireUsage(usage) };
  }

  #chunk(delta: object, finish_reason: string | null = null): ServerEvent {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return { data: { ...this.#head, object: chunkType, choices } };
  }

  #toDeltas(piece: ReplyPiece): object[] {
    if (piece.type === "toolCall") return [{ tool_calls: [this.#toCallDelta(piece)] }];
    const { type, text } = piece;
    if (text === "") return [];
    if (type === "text") this.#text += text;
    else this.#reasoning += text;
    return [type === "text" ? { content: text } : { reasoning_content: text }];
  }

  #toCallDelta({ key, id, name, text, signature }: ToolCallPiece) {
    const added = { index: this.#calls.size, call: { function: { arguments: "" } } };
    const { index, call } = this.#calls.get(key) ?? added;
    const fields = {
      ...(id !== undefined && { id, type: "function" }),
      ...(signature && { extra_content: { google: { thought_signature: signature.value } } }),
    };
    const named = { ...(name !== undefined && { name }) };
    const whole = { ...call.function, ...named, arguments: call.function.arguments + text };
    this.#calls.set(key, { index, call: { ...call, ...fields, function: whole } });
    return { index, ...fields, function: { ...named, arguments: text } };
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

function toWireUsage({ input, cacheRead, cacheWrite, output, reasoning }: TokenUsage) {
  const prompt_tokens = (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);
  const completion_tokens = output ?? 0;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: cacheRead ?? 0 },
    completion_tokens_details: { reasoning_tokens: reasoning ?? 0 },
  };
}
