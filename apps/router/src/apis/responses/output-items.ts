import type { ReplyPiece, ToolCallPiece } from "../../reply/reply-piece.ts";
import { parseObject } from "../parse-body.ts";
import type { ClientTool } from "./responses-request.ts";

/** An event without its number in the reply. */
interface ItemEvent {
  readonly type: `response.${string}`;
  readonly [field: string]: unknown;
}

type ItemStatus = "in_progress" | "completed" | "incomplete";

/** How an item of one type is written. */
interface ItemForm {
  readonly prefix: string;
  /** The events of the text, and the text's name in the last one. */
  readonly events: ItemEvent;
  readonly textName: "text" | "arguments" | "input";
  /** The events of the part that has the text. */
  readonly partEvents?: ItemEvent;
  readonly toPart?: (itemText: string) => object;
  readonly toWire: (itemText: string, status: ItemStatus, signature: string | null) => object;
}

interface ItemOptions {
  readonly requestId: string;
  readonly index: number;
  readonly tools: ReadonlyMap<string, ClientTool>;
}

/** An item of a reply's output, which grows with each piece of its block. */
export class OutputItem {
  readonly index: number;
  readonly isCall: boolean;
  readonly #form: ItemForm;
  readonly #at: { readonly item_id: string; readonly output_index: number };
  #text = "";
  #signature: string | null = null;

  constructor(first: ReplyPiece, { requestId, index, tools }: ItemOptions) {
    const number = `${requestId}_${index}`;
    this.index = index;
    this.isCall = first.type === "toolCall";
    this.#form = first.type === "toolCall" ? toCallForm(first, number, tools) : forms[first.type];
    this.#at = { item_id: `${this.#form.prefix}_${number}`, output_index: index };
  }

  begin(): ItemEvent[] {
    return [this.#toItemEvent("added", "in_progress")];
  }

  add(piece: ReplyPiece): ItemEvent[] {
    if (piece.type !== "text") this.#signature = piece.signature?.value ?? this.#signature;
    if (piece.text === "") return [];
    const beginEvents = this.#text === "" ? this.#toPartEvents("added") : [];
    this.#text += piece.text;
    if (this.#form.textName === "input") return []; // not known before the end
    return [...beginEvents, this.#toTextEvent("delta", piece.text)];
  }

  end(status: ItemStatus): ItemEvent[] {
    const { textName } = this.#form;
    if (textName === "input") this.#text = toCustomInput(this.#text);
    const isWritten = this.isCall || this.#text !== "";
    const endEvents = [this.#toTextEvent("done", this.#text), ...this.#toPartEvents("done")];
    return [
      ...(textName === "input" ? [this.#toTextEvent("delta", this.#text)] : []),
      ...(isWritten ? endEvents : []),
      this.#toItemEvent("done", status),
    ];
  }

  toWire(status: ItemStatus): object {
    return { id: this.#at.item_id, ...this.#form.toWire(this.#text, status, this.#signature) };
  }

  #toTextEvent(step: "delta" | "done", textPart: string): ItemEvent {
    const { events, textName } = this.#form;
    const fieldName = step === "delta" ? step : textName;
    return { ...events, type: `${events.type}.${step}`, ...this.#at, [fieldName]: textPart };
  }

  #toPartEvents(step: "added" | "done"): ItemEvent[] {
    const { partEvents: events, toPart } = this.#form;
    if (events === undefined) return [];
    return [{ ...events, type: `${events.type}.${step}`, ...this.#at, part: toPart?.(this.#text) }];
  }

  #toItemEvent(step: "added" | "done", status: ItemStatus): ItemEvent {
    const type = `response.output_item.${step}` as const;
    return { type, output_index: this.index, item: this.toWire(status) };
  }
}

function listParts(itemText: string, toPart: (itemText: string) => object): object[] {
  return itemText === "" ? [] : [toPart(itemText)];
}

const toOutputText = (text: string) => ({
  type: "output_text",
  text,
  annotations: [],
  logprobs: [],
});
const toSummary = (text: string) => ({ type: "summary_text", text });

const forms: Readonly<Record<"text" | "reasoning", ItemForm>> = {
  text: {
    prefix: "msg",
    events: { type: "response.output_text", content_index: 0, logprobs: [] },
    textName: "text",
    partEvents: { type: "response.content_part", content_index: 0 },
    toPart: toOutputText,
    toWire: (itemText, status) => {
      const content = listParts(itemText, toOutputText);
      return { type: "message", status, role: "assistant", content };
    },
  },
  // Codex repeats a summary in the next request, but no other text of the reasoning.
  reasoning: {
    prefix: "reasoning",
    events: { type: "response.reasoning_summary_text", summary_index: 0 },
    textName: "text",
    partEvents: { type: "response.reasoning_summary_part", summary_index: 0 },
    toPart: toSummary,
    toWire: (itemText, _status, encrypted_content) => {
      return { type: "reasoning", summary: listParts(itemText, toSummary), encrypted_content };
    },
  },
};

function toCallForm(
  { id, name = "" }: ToolCallPiece,
  itemNumber: string,
  tools: ItemOptions["tools"],
): ItemForm {
  const clientTool = tools.get(name);
  const isCustom = clientTool?.type === "custom";
  const textName = isCustom ? "input" : "arguments";
  const commonFields = {
    type: isCustom ? "custom_tool_call" : "function_call",
    call_id: id ?? `call_${itemNumber}`,
    name: clientTool?.name ?? name,
    ...(clientTool?.namespace && { namespace: clientTool.namespace }),
  };
  return {
    prefix: isCustom ? "ctc" : "fc",
    events: { type: `response.${commonFields.type}_${textName}` },
    textName,
    toWire: (itemText, status) => ({ ...commonFields, status, [textName]: itemText }),
  };
}

/** Returns the input in a custom tool's arguments; arguments in another form are passed on unchanged. */
function toCustomInput(inputText: string): string {
  const customInput = parseObject(inputText)?.["input"];
  return typeof customInput === "string" ? customInput : inputText;
}
