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
  readonly call: (part: Fields) => string | null;
  readonly result: (part: Fields) => string | null;
  readonly withArguments: (call: Fields) => Fields;
  /** Returns an element whose content is not null; an empty list if it has none. */
  readonly withContent: (element: Fields) => Fields | readonly [];
  /** Writes results that must follow their calls directly; null if they may be anywhere. */
  readonly toElements: ((results: List) => List) | null;
}

const endsWith = ({ type }: Fields, end: string) => typeof type === "string" && type.endsWith(end);
const isCall = (item: Fields) =>
  item["type"] === "function_call" || (endsWith(item, "_call") && "call_id" in item);
const isOutput = (item: Fields) => endsWith(item, "_call_output");

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
    toElements: (results) => results,
  },
  anthropic: {
    list: "messages",
    inner: "content",
    call: ({ type }) => (type === "tool_use" ? "id" : null),
    result: ({ type }) => (type === "tool_result" ? "tool_use_id" : null),
    withArguments: (call) => withField(call, "input", toInput(call["input"])),
    withContent: unlessNull,
    toElements: (results) => [{ role: "user", content: results }],
  },
  "openai-responses": {
    list: "input",
    inner: null,
    call: (item) => (isCall(item) ? "call_id" : null),
    result: (item) => (isOutput(item) ? "call_id" : null),
    withArguments: (call) => (call["type"] === "function_call" ? withText(call) : call),
    withContent: (item) => {
      if (isOutput(item)) return withField(item, "output", item["output"] ?? "");
      return unlessNull(item);
    },
    toElements: null,
  },
};

/** The repairs in their order, by their names in the decision log. Each returns a valid list itself. */
const repairs: Readonly<Record<string, (list: List, form: HistoryForm) => List>> = {
  "old-calls": (list, { inner }) => (inner === "tool_calls" ? changed(list, toToolCalls) : list),
  "empty-content": (list, form) => {
    const filledList = changed(list, form.withContent);
    return filledList.length === 0 ? list : filledList;
  },
  arguments: (list, form) =>
    changedParts(list, form, (part) =>
      form.call(part) === null ? part : form.withArguments(part),
    ),
  "call-ids": (list, form) => withIds(list, form, new StepIds()),
  "result-order": orderResults,
};

/**
 * Repairs the calls and results of a history as agents leave it, so that every service takes it. Returns the body
 * itself if it is valid, and the names of the repairs.
 */
export function repairHistory(type: ClientApiType, body: unknown) {
  const form = forms[type];
  const list = isRecord(body) ? body[form.list] : null;
  if (!isRecord(body) || !Array.isArray(list)) return { body, repairs: [] };
  let repairedList: List = list;
  const names = Object.entries(repairs).flatMap(([name, repair]) => {
    const before = repairedList;
    repairedList = repair(before, form);
    return repairedList === before ? [] : [name];
  });
  return { body: withField(body, form.list, repairedList), repairs: names };
}

/** Returns the field of a body with the conversation. */
export function historyField(type: ClientApiType): HistoryForm["list"] {
  return forms[type].list;
}

/** Returns a body with ids that its service takes; the body itself if it takes all of them. */
export function withServiceIds(type: ClientApiType, body: Fields): Fields {
  const form = forms[type];
  const list = body[form.list];
  if (!Array.isArray(list)) return body;
  return withField(body, form.list, withIds(list, form, new ServiceIds(type)));
}

/** The form of calls before `tool_calls`: a call and its result have no id. */
function toToolCalls(message: Fields): Fields {
  if (message["role"] === "function") return { ...message, role: "tool", tool_call_id: "" };
  if (!isRecord(message["function_call"])) return message; // most have none, and a copy costs
  const { function_call: functionCall, ...others } = message;
  const { tool_calls: calls } = others;
  if (Array.isArray(calls) && calls.length > 0) return others;
  return { ...others, tool_calls: [{ id: "", type: "function", function: functionCall }] };
}

/** Moves results behind the element with their calls if something else is between. */
function orderResults(list: List, form: HistoryForm): List {
  const { toElements } = form;
  const callAt = new Map<string, number>();
  const resultsAt = new Map<number, unknown[]>();
  const pairedParts = new Set<unknown>();
  let [isOrdered, last] = [true, -1];
  for (const [at, part] of partsIn(list, form)) {
    const [callId, resultId] = [idIn(part, form.call), idIn(part, form.result)];
    if (callId !== null) callAt.set(callId, (last = at));
    const home = resultId === null ? undefined : callAt.get(resultId);
    if (resultId === null || home === undefined) {
      if (last !== at) last = -1;
      continue;
    }
    callAt.delete(resultId);
    pairedParts.add(part);
    resultsAt.set(home, resultsAt.get(home) ?? []);
    resultsAt.get(home)?.push(part);
    isOrdered &&= home === last;
  }
  if (isOrdered || toElements === null) return list;
  return list.flatMap((element, at) => {
    const results = resultsAt.get(at);
    const own = withParts(
      element,
      form,
      listParts(element, form).filter((part) => !pairedParts.has(part)),
    );
    return results === undefined ? own : [...own, ...toElements(results)];
  });
}

function withIds(list: List, form: HistoryForm, ids: CallIds): List {
  return changedParts(list, form, (part, element) => {
    const [call, result] = [form.call(part), form.result(part)];
    if (call !== null) return withId(part, call, (id) => ids.ofCall(id));
    if (result !== null) return withId(part, result, (id) => ids.ofResult(id));
    ids.pass?.(element["role"]);
    return part;
  });
}

function withId(part: Fields, name: string, toId: (id: string) => string): Fields {
  const id = findId(part[name]);
  const other = toId(id);
  return other === id ? part : { ...part, [name]: other };
}

function findId(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function idIn(part: unknown, nameOf: HistoryForm["call"]): string | null {
  const name = isRecord(part) ? nameOf(part) : null;
  return isRecord(part) && name !== null ? findId(part[name]) : null;
}

function* partsIn(list: List, form: HistoryForm): Generator<readonly [at: number, part: unknown]> {
  for (const [at, element] of list.entries())
    for (const part of listParts(element, form)) yield [at, part];
}

/** Returns the calls and results in an element, or the element. */
function listParts(element: unknown, { inner }: HistoryForm): List {
  const parts = inner !== null && isRecord(element) ? element[inner] : null;
  return Array.isArray(parts) && parts.length > 0 ? parts : [element];
}

/** Returns an element with other parts, or these; nothing without parts. */
function withParts(element: unknown, form: HistoryForm, parts: List): List {
  const isInside = form.inner !== null && listParts(element, form)[0] !== element;
  return isInside && parts.length > 0 ? [{ ...Object(element), [form.inner]: parts }] : parts;
}

/** Returns the list itself unless an element changes; an empty list removes one. */
function changed(list: List, change: (element: Fields) => unknown): List {
  let next: unknown[] | null = null; // most lists are valid, and `flatMap` took most of the time
  for (const [at, element] of list.entries()) {
    const result = isRecord(element) ? change(element) : element;
    if (result !== element) next ??= list.slice(0, at);
    if (result === element) next?.push(result);
    else if (Array.isArray(result)) next?.push(...(result as List));
    else next?.push(result);
  }
  return next ?? list;
}

function changedParts(
  list: List,
  form: HistoryForm,
  change: (part: Fields, element: Fields) => Fields,
): List {
  return changed(list, (element) => {
    const parts = listParts(element, form);
    const next = changed(parts, (part) => change(part, element));
    return next === parts ? element : withParts(element, form, next);
  });
}

function withField(element: Fields, name: string, value: unknown): Fields {
  return element[name] === value ? element : { ...element, [name]: value };
}

function unlessNull(message: Fields): Fields | readonly [] {
  return "role" in message && (message["content"] ?? null) === null ? [] : message;
}

/** Arguments that are absent or empty are an empty object; an object becomes its text. */
function withText(call: Fields): Fields {
  const value = call["arguments"] ?? "";
  if (typeof value === "string") return value.trim() === "" ? { ...call, arguments: "{}" } : call;
  const isText = isRecord(value) && deepPath(value) === null;
  return isText ? { ...call, arguments: JSON.stringify(value) } : call;
}

/** Returns an object for its text, for null, and for the empty list that PHP writes. */
function toInput(value: unknown): unknown {
  if (typeof value === "string") {
    const read = parseJson(value.trim() || "{}");
    return isRecord(read) ? read : { input: value };
  }
  const isEmpty = Array.isArray(value) && value.length === 0;
  return isEmpty || value === null || value === undefined ? {} : value;
}
