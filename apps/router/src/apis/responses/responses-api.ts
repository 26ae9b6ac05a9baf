import type { Api, ApiRequest, ReplyHead, ReplyWriter } from "../api.ts";
import { openAiClientModels, openAiError, openAiModels, toOpenAiUsage } from "../openai-form.ts";
import { cheapValues } from "../request-fields.ts";
import {
  type ClientTool,
  readResponsesRequest,
  type ResponsesBody,
  toClientTools,
} from "./responses-request.ts";
import { withoutUndefined } from "../../conversation/conversation.ts";
import type { ReplyEnd, ReplyPiece } from "../../reply/reply-piece.ts";
import type { ServerEvent } from "../../routes/event-stream.ts";
import { OutputItem } from "./output-items.ts";

/** OpenAI's Responses API, as Codex, the `openai` package and `@ai-sdk/openai` speak it. */
export const responsesApi: Api = {
  name: "responses",
  upstreamType: "openai-responses",
  path: "/v1/responses",
  ownHeader: null,
  count: null,
  overloadedStatus: 503,
  cheapValues,
  clientModels: openAiClientModels,
  read: readResponsesRequest,
  write: (head, request) => new ResponsesReply(head, request),
  modelList: openAiModels,
  error: openAiError,
};

const numberField = '"sequence_number":';

type ItemEvent = ReturnType<OutputItem["begin"]>[number];

/** Writes a reply. Each block is an item; tool calls stay open until the end, since they may interleave. */
class ResponsesReply implements ReplyWriter {
  readonly #requestId: string;
  readonly #body: ResponsesBody;
  #tools: ReadonlyMap<string, ClientTool> | null = null;
  /** The open items by the keys of their blocks. */
  readonly #open = new Map<string, OutputItem>();
  /** The items that have ended, by their index. */
  readonly #output: object[] = [];
  #items = 0;
  #events = 0;
  #response: object;

  constructor({ requestId, model, createdAt }: ReplyHead, request: ApiRequest) {
    this.#body = request.body as ResponsesBody; // checked, or it is sent unchanged
    this.#requestId = requestId;
    const head = { id: `resp_${requestId}`, object: "response", created_at: createdAt, model };
    this.#response = { ...head, ...toResponse(this.#body) };
  }

  begin(): ServerEvent[] {
    return [this.#change("created", {}), this.#change("in_progress", {})];
  }

  add(pieces: readonly ReplyPiece[]): ServerEvent[] {
    return pieces.flatMap((piece) => this.#addPiece(piece)).map((event) => this.#toWire(event));
  }

  end({ finishReason, usage }: ReplyEnd): ServerEvent[] {
    const reason = incompleteReasons[finishReason];
    const status = reason === undefined ? "completed" : "incomplete";
    const events = [...this.#open].flatMap(([key, item]) => this.#endItem(key, item, status));
    const itemEvents = events.map((event) => this.#toWire(event));
    const incomplete_details = reason === undefined ? null : { reason };
    const isKnown = usage.input !== null || usage.output !== null;
    const counts = isKnown ? toOpenAiUsage(usage, "input", "output") : null;
    return [...itemEvents, this.#change(status, { incomplete_details, usage: counts })];
  }

  fail(message: string, status: number, passedText = ""): ServerEvent[] {
    const number = passedText.slice(passedText.lastIndexOf(numberField) + numberField.length);
    if (passedText !== "") this.#events = (Number.parseInt(number, 10) || 0) + 1;
    const beginning = this.#events === 0 ? this.begin() : [];
    const error = { code: errorCodes[status] ?? "server_error", message };
    return [...beginning, this.#change("failed", { error })];
  }

  whole(): object {
    return this.#response;
  }

  #addPiece(piece: ReplyPiece): readonly ItemEvent[] {
    const open = this.#open.get(piece.key);
    if (open) return open.add(piece);
    if (piece.type === "text" && piece.text === "") return [];
    const endings = [...this.#open].flatMap(([key, item]) =>
      item.isCall ? [] : this.#endItem(key, item, "completed"),
    );
    this.#tools ??= new Map(toClientTools(this.#body.tools).map((each) => [each.tool.name, each]));
    const options = { requestId: this.#requestId, index: this.#items, tools: this.#tools };
    const item = new OutputItem(piece, options);
    this.#items += 1;
    this.#open.set(piece.key, item);
    return [...endings, ...item.begin(), ...item.add(piece)];
  }

  #endItem(key: string, item: OutputItem, status: Parameters<OutputItem["end"]>[0]) {
    const events = item.end(status);
    this.#output[item.index] = item.toWire(status);
    this.#open.delete(key);
    return events;
  }

  #toWire({ type, ...fields }: ItemEvent): ServerEvent {
    const data = { type, sequence_number: this.#events, ...fields };
    this.#events += 1;
    return { event: type, data };
  }

  /** Changes the response, and returns its event. Items that have not ended are no part of it. */
  #change(
    step: "created" | "in_progress" | "completed" | "incomplete" | "failed",
    changedFields: object,
  ) {
    const status = step === "created" ? "in_progress" : step;
    const output = this.#output.filter(() => true);
    this.#response = { ...this.#response, status, ...changedFields, output };
    return this.#toWire({ type: `response.${step}`, response: this.#response });
  }
}

const incompleteReasons: Partial<Record<ReplyEnd["finishReason"], string>> = {
  length: "max_output_tokens",
  "content-filter": "content_filter",
};

/** Codex repeats a request after any error but an invalid one. */
const errorCodes: Partial<Record<number, string>> = {
  400: "invalid_prompt",
  429: "rate_limit_exceeded",
};

/** Returns the fields that repeat the request, and those without a value yet. */
function toResponse(body: ResponsesBody) {
  return {
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    reasoning: { effort: null, summary: null, ...body.reasoning },
    store: false,
    temperature: body.temperature ?? null,
    text: { format: { type: "text" }, ...withoutUndefined(body.text ?? {}) },
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    usage: null,
  };
}
