import type { ReplyPiece, ToolCallPiece } from "../../reply/reply-piece.ts";
import { type ClientTool, toCustomInput } from "./client-tools.ts";

/** An item of a reply's output, which grows with each piece of its block. */
export interface OutputItem {
  readonly index: number;
  readonly isCall: boolean;
  readonly begin: () => readonly ItemEvent[];
  readonly add: (piece: ReplyPiece) => readonly ItemEvent[];
  readonly end: (status: ItemStatus) => readonly ItemEvent[];
  readonly toWire: (status: ItemStatus) => object;
}

/** An event without its number in the reply. */
export interface ItemEvent {
  readonly type: `response.${string}`;
  readonly [field: string]: unknown;
}

/** How far an item is. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** How an item of one type is written. */
interface ItemForm {
  readonly prefix: string;
  /** The events of the text, and their fields. */
  readonly events: ItemEvent;
  /** The text's name in the last event. */
  readonly textName: "text" | "arguments" | "input";
  /** The part with the text, and its events with their fields. */
  readonly part?: { readonly events: ItemEvent; readonly toWire: (text: string) => object };
  /** Reads the text at the end; until then, none is written. */
  readonly decode?: (text: string) => string;
  readonly toWire: (text: string, status: ItemStatus, signature: string | null) => object;
}

/** What an item needs beside its first piece. */
interface ItemOptions {
  readonly requestId: string;
  readonly index: number;
  readonly tools: ReadonlyMap<string, ClientTool>;
}

/** Creates the item of a block from its first piece. */
export function createItem(first: ReplyPiece, options: ItemOptions): OutputItem {
  const { requestId, index } = options;
  const number = `${requestId}_${index}`;
  const isCall = first.type === "toolCall";
  const form = isCall ? toCallForm(first, number, options.tools) : forms[first.type];
  const at = { item_id: `${form.prefix}_${number}`, output_index: index };
  let text = "";
  let signature: string | null = null;
  const toWire = (status: ItemStatus) => ({
    id: at.item_id,
    ...form.toWire(text, status, signature),
  });
  const toTextEvent = (step: "delta" | "done", fields: object): ItemEvent => {
    return { ...form.events, type: `${form.events.type}.${step}`, ...at, ...fields };
  };
  const toPartEvents = (step: "added" | "done"): ItemEvent[] => {
    const { part } = form;
    return part
      ? [{ ...part.events, type: `${part.events.type}.${step}`, ...at, part: part.toWire(text) }]
      : [];
  };
  const toItemEvent = (step: "added" | "done", status: ItemStatus): ItemEvent => {
    return { type: `response.output_item.${step}`, output_index: index, item: toWire(status) };
  };
  return {
    index,
    isCall,
    toWire,
    begin: () => [toItemEvent("added", "in_progress")],
    add(piece) {
      if (piece.type !== "text") signature = piece.signature?.value ?? signature;
      if (piece.text === "") return [];
      const begun = text === "" ? toPartEvents("added") : [];
      text += piece.text;
      return form.decode ? [] : [...begun, toTextEvent("delta", { delta: piece.text })];
    },
    end(status) {
      const isWritten = isCall || text !== "";
      text = form.decode?.(text) ?? text;
      const done = [toTextEvent("done", { [form.textName]: text }), ...toPartEvents("done")];
      return [
        ...(form.decode ? [toTextEvent("delta", { delta: text })] : []),
        ...(isWritten ? done : []),
        toItemEvent("done", status),
      ];
    },
  };
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
    part: { events: { type: "response.content_part", content_index: 0 }, toWire: toOutputText },
    toWire: (text, status) => ({
      type: "message",
      status,
      role: "assistant",
      content: text === "" ? [] : [toOutputText(text)],
    }),
  },
  // Codex repeats a summary in the next request, but no other text of the reasoning.
  reasoning: {
    prefix: "reasoning",
    events: { type: "response.reasoning_summary_text", summary_index: 0 },
    textName: "text",
    part: {
      events: { type: "response.reasoning_summary_part", summary_index: 0 },
      toWire: toSummary,
    },
    toWire: (text, _status, signature) => ({
      type: "reasoning",
      summary: text === "" ? [] : [toSummary(text)],
      encrypted_content: signature,
    }),
  },
};

function toCallForm(
  { id, name = "" }: ToolCallPiece,
  number: string,
  tools: ReadonlyMap<string, ClientTool>,
): ItemForm {
  const tool = tools.get(name) ?? { type: "function", name, namespace: null };
  const { namespace } = tool;
  const call = {
    call_id: id ?? `call_${number}`,
    name: tool.name,
    ...(namespace && { namespace }),
  };
  if (tool.type === "custom") {
    return {
      prefix: "ctc",
      events: { type: "response.custom_tool_call_input" },
      textName: "input",
      decode: toCustomInput,
      toWire: (input, status) => ({ type: "custom_tool_call", status, ...call, input }),
    };
  }
  return {
    prefix: "fc",
    events: { type: "response.function_call_arguments" },
    textName: "arguments",
    toWire: (text, status) => ({ type: "function_call", status, ...call, arguments: text }),
  };
}
