import { isRecord, parseJson } from "evaluator-kit";
import type { ClientApiType } from "../conversation/upstream-types.ts";
import { deepPath } from "../routes/json-depth.ts";
import { type CallIds, ServiceIds, StepIds } from "./call-ids.ts";

type Fields = Readonly<Record<string, unknown>>;
type List = readonly unknown[];

/** How an API lists the tool calls and results of a conversation. */
interface HistoryForm {
  readonly list: "messages" | "input";
  /** The list of calls or results in an element; null if an element is one. */
  readonly inner: "tool_calls" | "content" | null;
  /** These return the name of the field with the id of a call, or of a result; null for another part. */
  readonly call: (historyPart: Fields) => string | null;
  readonly result: (historyPart: Fields) => string | null;
  readonly withArguments: (toolCall: Fields) => Fields;
  /** Returns an element whose content is not null; an empty list if it has none. */
  readonly withContent: (element: Fields) => Fields | readonly [];
  /** Writes results that must follow their calls directly; null if they may be anywhere. */
  readonly toElements: ((toolResults: List) => List) | null;
}

const endsWith = ({ type }: Fields, end: string) => typeof type === "string" && type.endsWith(end);
const isCall = (inputItem: Fields) =>
  inputItem["type"] === "function_call" || (endsWith(inputItem, "_call") && "call_id" in inputItem);
const isOutput = (inputItem: Fields) => endsWith(inputItem, "_call_output");

const forms: Readonly<Record<ClientApiType, HistoryForm>> = {
  "openai-chat": {
    list: "messages",
    inner: "tool_calls",
    call: (part) => ("type" in part && !("role" in part) ? "id" : null),
    result: ({ role }) => (role === "tool" ? "tool_call_id" : null),
    withArguments: (call) =>
      isRecord(call["function"]) ? withField(call, "function", withText(call["function"])) : call,
    withContent: (message) => {
      if (message["role"] === "tool")
        return withField(message, "content", message["content"] ?? "");
      return message["role"] === "assistant" ? message : unlessNull(message);
    },
    toElements: (toolResults) => toolResults,
  },
  anthropic: {
    list: "messages",
    inner: "content",
    call: ({ type }) => (type === "tool_use" ? "id" : null),
    result: ({ type }) => (type === "tool_result" ? "tool_use_id" : null),
    withArguments: (toolCall) => withField(toolCall, "input", toInput(toolCall["input"])),
    withContent: unlessNull,
    toElements: (toolResults) => [{ role: "user", content: toolResults }],
  },
  "openai-responses": {
    list: "input",
    inner: null,
    call: (inputItem) => (isCall(inputItem) ? "call_id" : null),
    result: (inputItem) => (isOutput(inputItem) ? "call_id" : null),
    withArguments: (call) => (call["type"] === "function_call" ? withText(call) : call),
    withContent: (inputItem) => {
      if (isOutput(inputItem)) return withField(inputItem, "output", inputItem["output"] ?? "");
      return unlessNull(inputItem);
    },
    toElements: null,
  },
};

/** The repairs in their order, by their names in the decision log. Each returns a valid list itself. */
const repairs: Readonly<Record<string, (history: List, historyForm: HistoryForm) => List>> = {
  "old-calls": (list, { inner }) => (inner === "tool_calls" ? changed(list, toToolCalls) : list),
  "empty-content": (history, historyForm) => {
    const filledList = changed(history, historyForm.withContent);
    return filledList.length === 0 ? history : filledList;
  },
  arguments: (history, historyForm) =>
    changedParts(history, historyForm, (historyPart) =>
      historyForm.call(historyPart) === null ? historyPart : historyForm.withArguments(historyPart),
    ),
  "call-ids": (history, historyForm) => withIds(history, historyForm, new StepIds()),
  "result-order": orderResults,
};

/**
 * Repairs the calls and results of a history as agents leave it, so that every service takes it. Returns the body
 * itself if it is valid, and the names of the repairs.
 */
export function repairHistory(apiType: ClientApiType, body: unknown) {
  const historyForm = forms[apiType];
  const history = isRecord(body) ? body[historyForm.list] : null;
  if (!isRecord(body) || !Array.isArray(history)) return { body, repairs: [] };
  let repairedList: List = history;
  const repairNames = Object.entries(repairs).flatMap(([repairName, repair]) => {
    const unrepairedList = repairedList;
    repairedList = repair(unrepairedList, historyForm);
    return repairedList === unrepairedList ? [] : [repairName];
  });
  return { body: withField(body, historyForm.list, repairedList), repairs: repairNames };
}

/** Returns the field of a body with the conversation. */
export function historyField(apiType: ClientApiType): HistoryForm["list"] {
  return forms[apiType].list;
}

/** Returns a body with ids that its service takes; the body itself if it takes all of them. */
export function withServiceIds(apiType: ClientApiType, body: Fields): Fields {
  const historyForm = forms[apiType];
  const history = body[historyForm.list];
  if (!Array.isArray(history)) return body;
  return withField(body, historyForm.list, withIds(history, historyForm, new ServiceIds(apiType)));
}

/** The form of calls before `tool_calls`: a call and its result have no id. */
function toToolCalls(message: Fields): Fields {
  if (message["role"] === "function") return { ...message, role: "tool", tool_call_id: "" };
  if (!isRecord(message["function_call"])) return message; // most have none, and a copy costs
  const { function_call: functionCall, ...otherFields } = message;
  const { tool_calls: toolCalls } = otherFields;
  if (Array.isArray(toolCalls) && toolCalls.length > 0) return otherFields;
  return { ...otherFields, tool_calls: [{ id: "", type: "function", function: functionCall }] };
}

/** Moves results behind the element with their calls if something else is between. */
function orderResults(history: List, historyForm: HistoryForm): List {
  const { toElements } = historyForm;
  const callIndexes = new Map<string, number>();
  const resultsByIndex = new Map<number, unknown[]>();
  const pairedParts = new Set<unknown>();
  let [isOrdered, lastIndex] = [true, -1];
  for (const [elementIndex, part] of partsIn(history, historyForm)) {
    const [callId, resultId] = [idIn(part, historyForm.call), idIn(part, historyForm.result)];
    if (callId !== null) callIndexes.set(callId, (lastIndex = elementIndex));
    const callIndex = resultId === null ? undefined : callIndexes.get(resultId);
    if (resultId === null || callIndex === undefined) {
      if (lastIndex !== elementIndex) lastIndex = -1;
      continue;
    }
    callIndexes.delete(resultId);
    pairedParts.add(part);
    resultsByIndex.set(callIndex, resultsByIndex.get(callIndex) ?? []);
    resultsByIndex.get(callIndex)?.push(part);
    isOrdered &&= callIndex === lastIndex;
  }
  if (isOrdered || toElements === null) return history;
  return history.flatMap((listElement, elementIndex) => {
    const toolResults = resultsByIndex.get(elementIndex);
    const ownElements = withParts(
      listElement,
      historyForm,
      listParts(listElement, historyForm).filter((historyPart) => !pairedParts.has(historyPart)),
    );
    return toolResults === undefined ? ownElements : [...ownElements, ...toElements(toolResults)];
  });
}

function withIds(history: List, historyForm: HistoryForm, callIds: CallIds): List {
  return changedParts(history, historyForm, (historyPart, listElement) => {
    const [callField, result] = [historyForm.call(historyPart), historyForm.result(historyPart)];
    if (callField !== null) return withId(historyPart, callField, (id) => callIds.ofCall(id));
    if (result !== null) return withId(historyPart, result, (callId) => callIds.ofResult(callId));
    callIds.pass?.(listElement["role"]);
    return historyPart;
  });
}

function withId(historyPart: Fields, fieldName: string, toId: (callId: string) => string): Fields {
  const callId = findId(historyPart[fieldName]);
  const otherId = toId(callId);
  return otherId === callId ? historyPart : { ...historyPart, [fieldName]: otherId };
}

function findId(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function idIn(historyPart: unknown, nameOf: HistoryForm["call"]): string | null {
  const fieldName = isRecord(historyPart) ? nameOf(historyPart) : null;
  return isRecord(historyPart) && fieldName !== null ? findId(historyPart[fieldName]) : null;
}

function* partsIn(list: List, form: HistoryForm): Generator<readonly [at: number, part: unknown]> {
  for (const [elementIndex, listElement] of list.entries())
    for (const historyPart of listParts(listElement, form)) yield [elementIndex, historyPart];
}

/** Returns the calls and results in an element, or the element. */
function listParts(listElement: unknown, { inner }: HistoryForm): List {
  const innerParts = inner !== null && isRecord(listElement) ? listElement[inner] : null;
  return Array.isArray(innerParts) && innerParts.length > 0 ? innerParts : [listElement];
}

/** Returns an element with other parts, or these; nothing without parts. */
function withParts(listElement: unknown, form: HistoryForm, parts: List): List {
  const isInside = form.inner !== null && listParts(listElement, form)[0] !== listElement;
  return isInside && parts.length > 0 ? [{ ...Object(listElement), [form.inner]: parts }] : parts;
}

/** Returns the list itself unless an element changes; an empty list removes one. */
function changed(history: List, toChanged: (listElement: Fields) => unknown): List {
  let changedList: unknown[] | null = null; // most lists are valid, and `flatMap` took most of the time
  for (const [elementIndex, listElement] of history.entries()) {
    const changedElement = isRecord(listElement) ? toChanged(listElement) : listElement;
    if (changedElement !== listElement) changedList ??= history.slice(0, elementIndex);
    if (changedElement === listElement) changedList?.push(changedElement);
    else if (Array.isArray(changedElement)) changedList?.push(...(changedElement as List));
    else changedList?.push(changedElement);
  }
  return changedList ?? history;
}

function changedParts(
  history: List,
  historyForm: HistoryForm,
  toChanged: (historyPart: Fields, listElement: Fields) => Fields,
): List {
  return changed(history, (listElement) => {
    const innerParts = listParts(listElement, historyForm);
    const next = changed(innerParts, (historyPart) => toChanged(historyPart, listElement));
    return next === innerParts ? listElement : withParts(listElement, historyForm, next);
  });
}

function withField(listElement: Fields, fieldName: string, value: unknown): Fields {
  return listElement[fieldName] === value ? listElement : { ...listElement, [fieldName]: value };
}

function unlessNull(message: Fields): Fields | readonly [] {
  return "role" in message && (message["content"] ?? null) === null ? [] : message;
}

/** Arguments that are absent or empty are an empty object; an object becomes its text. */
function withText(call: Fields): Fields {
  const value = call["arguments"] ?? "";
  if (typeof value === "string") return value.trim() === "" ? { ...call, arguments: "{}" } : call;
  const isWritable = isRecord(value) && deepPath(value) === null;
  return isWritable ? { ...call, arguments: JSON.stringify(value) } : call;
}

/** Returns an object for its text, for null, and for the empty list that PHP writes. */
function toInput(callInput: unknown): unknown {
  if (typeof callInput === "string") {
    const parsedInput = parseJson(callInput.trim() || "{}");
    return isRecord(parsedInput) ? parsedInput : { input: callInput };
  }
  const isEmpty = Array.isArray(callInput) && callInput.length === 0;
  return isEmpty || callInput === null || callInput === undefined ? {} : callInput;
}
