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
  write: (replyHead, request) => new ResponsesReply(replyHead, request),
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
  readonly #openItems = new Map<string, OutputItem>();
  /** The items that have ended, by their index. */
  readonly #outputItems: object[] = [];
  #itemCount = 0;
  #eventCount = 0;
  #latestResponse: object;

  constructor({ requestId, model, createdAt }: ReplyHead, request: ApiRequest) {
    this.#body = request.body as ResponsesBody; // checked, or it is sent unchanged
    this.#requestId = requestId;
    const head = { id: `resp_${requestId}`, object: "response", created_at: createdAt, model };
    this.#latestResponse = { ...head, ...toResponse(this.#body) };
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
    const events = [...this.#openItems].flatMap(([key, item]) => this.#endItem(key, item, status));
    const itemEvents = events.map((itemEvent) => this.#toWire(itemEvent));
    const incomplete_details = reason === undefined ? null : { reason };
    const isKnown = usage.input !== null || usage.output !== null;
    const tokenCounts = isKnown ? toOpenAiUsage(usage, "input", "output") : null;
    return [...itemEvents, this.#change(status, { incomplete_details, usage: tokenCounts })];
  }

  fail(message: string, status: number, passedText = ""): ServerEvent[] {
    const eventNumber = passedText.slice(passedText.lastIndexOf(numberField) + numberField.length);
    if (passedText !== "") this.#eventCount = (Number.parseInt(eventNumber, 10) || 0) + 1;
    const beginning = this.#eventCount === 0 ? this.begin() : [];
    const error = { code: errorCodes[status] ?? "server_error", message };
    return [...beginning, this.#change("failed", { error })];
  }

  whole(): object {
    return this.#latestResponse;
  }

  #addPiece(replyPiece: ReplyPiece): readonly ItemEvent[] {
    const openItem = this.#openItems.get(replyPiece.key);
    if (openItem) return openItem.add(replyPiece);
    if (replyPiece.type === "text" && replyPiece.text === "") return [];
    const endings = [...this.#openItems].flatMap(([itemKey, openItem]) =>
      openItem.isCall ? [] : this.#endItem(itemKey, openItem, "completed"),
    );
    this.#tools ??= new Map(toClientTools(this.#body.tools).map((each) => [each.tool.name, each]));
    const itemOptions = { requestId: this.#requestId, index: this.#itemCount, tools: this.#tools };
    const newItem = new OutputItem(replyPiece, itemOptions);
    this.#itemCount += 1;
    this.#openItems.set(replyPiece.key, newItem);
    return [...endings, ...newItem.begin(), ...newItem.add(replyPiece)];
  }

  #endItem(itemKey: string, openItem: OutputItem, status: Parameters<OutputItem["end"]>[0]) {
    const events = openItem.end(status);
    this.#outputItems[openItem.index] = openItem.toWire(status);
    this.#openItems.delete(itemKey);
    return events;
  }

  #toWire({ type, ...fields }: ItemEvent): ServerEvent {
    const data = { type, sequence_number: this.#eventCount, ...fields };
    this.#eventCount += 1;
    return { event: type, data };
  }

  /** Changes the response, and returns its event. Items that have not ended are no part of it. */
  #change(
    stepName: "created" | "in_progress" | "completed" | "incomplete" | "failed",
    changedFields: object,
  ) {
    const status = stepName === "created" ? "in_progress" : stepName;
    const output = this.#outputItems.filter(() => true);
    this.#latestResponse = { ...this.#latestResponse, status, ...changedFields, output };
    return this.#toWire({ type: `response.${stepName}`, response: this.#latestResponse });
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
function toResponse(requestBody: ResponsesBody) {
  return {
    error: null,
    incomplete_details: null,
    instructions: requestBody.instructions ?? null,
    max_output_tokens: requestBody.max_output_tokens ?? null,
    metadata: requestBody.metadata ?? {},
    parallel_tool_calls: requestBody.parallel_tool_calls ?? true,
    reasoning: { effort: null, summary: null, ...requestBody.reasoning },
    store: false,
    temperature: requestBody.temperature ?? null,
    text: { format: { type: "text" }, ...withoutUndefined(requestBody.text ?? {}) },
    tool_choice: requestBody.tool_choice ?? "auto",
    tools: requestBody.tools ?? [],
    top_p: requestBody.top_p ?? null,
    usage: null,
  };
}
