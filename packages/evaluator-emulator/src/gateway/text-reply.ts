import * as z from "zod/mini";
import { isJsonRecord } from "../json.ts";
import { stopWords, textWords } from "../judge/words.ts";
import { estimateTextTokens } from "../questions/evaluation-input.ts";

/** A tool that the caller offers. */
interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of its arguments. */
  readonly schema: unknown;
}

/** The tools and JSON that a caller wants, the same for each wire. */
export interface ReplyShape {
  readonly tools: readonly OfferedTool[];
  readonly toolChoice: "none" | "auto" | "required" | { readonly name: string };
  /** Whether several may be called at once. */
  readonly isParallel: boolean;
  /** The schema of the wanted JSON, `{}` for any; null for text. */
  readonly json: Readonly<Record<string, unknown>> | null;
}

/** A call of one of the caller's tools. */
export interface PlayedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
}

/**
 * Returns the reply to a conversation in the AI SDK's form or in OpenAI's, or null if it is none; the
 * text is empty if tools are called.
 */
export function composeReply(prompt: unknown, shape: ReplyShape, nextId: () => string) {
  const { data: messages } = promptSchema.safeParse(prompt);
  if (messages === undefined) return null;
  const reportedItems = messages.filter(
    (message) => message.role !== "user" || ownText(message) !== "",
  );
  const question = ownText(
    reportedItems.findLast(({ role }) => role === "user") ?? { role: "user" },
  );
  const results = reportedItems.slice(
    reportedItems.findLastIndex(({ role }) => role !== "tool") + 1,
  );
  const hasResults = results.length > 0;
  const message = hasResults ? results.map(toText).join("\n") : question;
  const playedCalls = hasResults ? [] : chooseCalls(question, shape, nextId);
  const intro = hasResults ? "The tools answered" : "You asked";
  const sentence = `${origin} ${intro}: "${shortened(message)}"`;
  const jsonBody = wantedJson(messages, shape);
  const replyText = playedCalls.length > 0 ? "" : shapeText(sentence, message, jsonBody);
  return {
    text: replyText,
    calls: playedCalls,
    inputTokens: estimateTextTokens(messages.map(toText).join("\n")),
    outputTokens: estimateTextTokens(replyText + playedCalls.map(({ input }) => input).join("")),
    basis: playedCalls.length > 0 || jsonBody !== null ? ("lexical" as const) : ("none" as const),
  };
}

const messageSchema = z.object({
  role: z.string(),
  content: z.nullish(z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])),
});
const promptSchema = z.array(messageSchema).check(z.minLength(1));

/** The wanted schema, which some programs only write into their instructions. */
function wantedJson(messages: z.infer<typeof promptSchema>, { json }: ReplyShape) {
  if (json !== null && Object.keys(json).length > 0) return json;
  const instructions = messages.filter(({ role }) => role === "system").map(toText);
  const [, text = ""] = /\bjson schema: (\{.*\})/i.exec(instructions.join("\n")) ?? [];
  try {
    return JSON.parse(text) as NonNullable<ReplyShape["json"]>; // in braces, so it is an object
  } catch {
    return json;
  }
}

function shapeText(reply: string, message: string, jsonBody: ReplyShape["json"]): string {
  if (jsonBody === null) return reply;
  if (Object.keys(jsonBody).length === 0) return JSON.stringify({ reply });
  return JSON.stringify(fillSchema(jsonBody, message));
}

function toText({ content }: z.infer<typeof messageSchema>): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(textOfPart).filter(Boolean).join("\n");
}

/** Returns a text without a coding agent's reminders, which name each of its tools. */
function ownText(message: z.infer<typeof messageSchema>): string {
  const pieces = toText(message).split("</system-reminder>");
  const own = pieces.map((piece) => piece.split("<system-reminder>", 1)[0]);
  return own.join("").trim();
}

/** Returns a text, or the answer of a tool (language model specification v4). */
function textOfPart({ text, output }: Record<string, unknown>): string {
  if (typeof text === "string") return text;
  const value = isJsonRecord(output) ? output["value"] : undefined;
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const longestEcho = 200;

const origin = "This reply comes from the local emulator, not from a language model.";

function shortened(longText: string): string {
  const characters = Array.from(longText.trim());
  const rest = characters.length > longestEcho ? "…" : "";
  return characters.slice(0, longestEcho).join("") + rest;
}

/** Returns the pieces that a reply is streamed in. */
export function listWords({ text }: { readonly text: string }): readonly string[] {
  return text.match(/\S+\s*/gu) ?? [];
}

/** Returns the pieces that a call's arguments are streamed in. */
export function argumentPieces({ input }: PlayedCall): readonly string[] {
  return input.match(/[\s\S]{1,8}/gu) ?? [];
}

/** Returns a response that sends each part as one server-sent event, then `[DONE]`. */
export function eventStream(parts: readonly object[], headers: Record<string, string>): Response {
  const events = [...parts.map((part) => JSON.stringify(part)), "[DONE]"];
  const encoder = new TextEncoder();
  // Not every browser has `ReadableStream.from`.
  const body = new ReadableStream({
    start(controller) {
      for (const event of events) controller.enqueue(encoder.encode(`data: ${event}\n\n`));
      controller.close();
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", ...headers },
  });
}

// Chosen, not measured: more than any caller handles in one turn.
const mostCalls = 8;

/**
 * Returns calls of the tools whose names share a word with the message, else of the one whose
 * description shares the most. One tool is called once for each name in the message.
 */
function chooseCalls(
  message: string,
  { tools, toolChoice, isParallel }: ReplyShape,
  nextId: () => string,
): readonly PlayedCall[] {
  const offeredTools = chooseTools(message, tools, toolChoice);
  const values = valuesIn(message);
  const hintsOfCalls =
    offeredTools.length === 1 && values.length > 1 ? values.map((value) => [value]) : [values];
  const calls = offeredTools.flatMap((tool) =>
    hintsOfCalls.map((textHints) => ({ tool, hints: textHints })),
  );
  return calls.slice(0, isParallel ? mostCalls : 1).map(({ tool, hints }) => {
    const input = JSON.stringify(fillSchema(tool.schema, message, hints) ?? {});
    return { id: `call_${nextId()}`, name: tool.name, input };
  });
}

function chooseTools(
  message: string,
  tools: readonly OfferedTool[],
  choice: ReplyShape["toolChoice"],
): readonly OfferedTool[] {
  if (choice === "none") return [];
  if (typeof choice === "object") return tools.filter(({ name }) => name === choice.name);
  const words = new Set(textWords(message).filter((word) => !stopWords.has(word)));
  const shared = (text: string) =>
    new Set(textWords(text.replaceAll("_", " ")).filter((word) => words.has(word))).size;
  const currentOfferedTools = tools.filter(({ name }) => shared(name) > 0);
  if (currentOfferedTools.length > 0) return currentOfferedTools;
  const [best] = tools.toSorted(
    (one, other) => shared(other.description) - shared(one.description),
  );
  const isFit = best !== undefined && (choice === "required" || shared(best.description) > 0);
  return isFit ? [best] : [];
}

/** Returns the quoted texts of a message, else its names: capitalized words except the first. */
function valuesIn(message: string): string[] {
  const quotedNames = [...message.matchAll(/"([^"]{1,200})"/g)].map(([, text = ""]) => text);
  if (quotedNames.length > 0) return quotedNames.slice(0, mostCalls);
  const names = message.slice(0, 2000).match(/(?<=\s)\p{Lu}[\p{L}\p{N}-]*/gu) ?? [];
  return [...new Set(names)].slice(0, mostCalls);
}

// Chosen, not measured: a schema that refers to itself, at several positions, would grow without end.
const deepest = 12;
const mostValues = 10_000;
const longestText = 200;

/** Returns a value that fits a JSON schema, made of options and numbers in the message, and of hints. */
function fillSchema(schema: unknown, message: string, textHints = valuesIn(message)): unknown {
  const texts = [...textHints];
  const numbers = (message.slice(0, 2000).match(/-?\d{1,15}(?:\.\d{1,6})?/g) ?? []).map(Number);
  const lowerCase = message.toLowerCase();
  let values = 0;

  const fill: Fill = (schemaPart, nestingDepth) => {
    values += 1;
    if (!isJsonRecord(schemaPart) || nestingDepth > deepest || values > mostValues) return null;
    const ownSchema = resolve(schemaPart, schema);
    if (Object.hasOwn(ownSchema, "const")) return ownSchema["const"];
    if (Array.isArray(ownSchema["enum"])) return toName(ownSchema["enum"], lowerCase);
    const branches: unknown = ownSchema["anyOf"] ?? ownSchema["oneOf"] ?? ownSchema["allOf"];
    if (Array.isArray(branches)) return fill(branches.find(isNotNull) ?? null, nestingDepth + 1);
    const type = String(toType(ownSchema));
    return Object.hasOwn(fillers, type) ? fillers[type]?.(ownSchema, nestingDepth) : null;
  };
  const fillers: Readonly<
    Record<string, (ownSchema: JsonSchema, nestingDepth: number) => unknown>
  > = {
    object: (ownSchema, nestingDepth) =>
      fillObject(ownSchema, (schemaPart) => fill(schemaPart, nestingDepth + 1)),
    array: (ownSchema, nestingDepth) => {
      const count = Math.min(Number(ownSchema["minItems"] ?? 1) || 0, mostCalls);
      return Array.from({ length: count }, () => fill(ownSchema["items"], nestingDepth + 1));
    },
    string: (ownSchema) =>
      textFor(ownSchema, texts.shift() ?? message.trim().slice(0, longestText)),
    integer: (ownSchema) => Math.round(within(ownSchema, numbers.shift() ?? 0)),
    number: (ownSchema) => within(ownSchema, numbers.shift() ?? 0),
    boolean: () => !/\b(?:no|not|never|without)\b/.test(lowerCase),
  };
  return fill(schema, 0);
}

type JsonSchema = Record<string, unknown>;
type Fill = (schemaPart: unknown, nestingDepth: number) => unknown;

function fillObject(
  { properties, required: requiredValue }: JsonSchema,
  fill: (schemaPart: unknown) => unknown,
) {
  if (!isJsonRecord(properties)) return {};
  const names =
    Array.isArray(requiredValue) && requiredValue.length > 0
      ? new Set<unknown>(requiredValue)
      : null;
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([propertyName]) => names === null || names.has(propertyName))
      .map(([propertyName, schemaPart]) => [propertyName, fill(schemaPart)]),
  );
}

/** Follows a reference inside the schema; any other reference allows any value. */
function resolve(schemaPart: JsonSchema, schema: unknown): JsonSchema {
  const pointerPath = typeof schemaPart["$ref"] === "string" ? schemaPart["$ref"] : null;
  if (pointerPath === null) return schemaPart;
  let resolvedSchema: unknown = schema;
  for (const key of pointerPath.replace(/^#\/?/, "").split("/").slice(0, deepest)) {
    resolvedSchema =
      key === "" ? resolvedSchema : isJsonRecord(resolvedSchema) ? resolvedSchema[key] : null;
  }
  return isJsonRecord(resolvedSchema) && resolvedSchema !== schemaPart
    ? { ...resolvedSchema, $ref: undefined }
    : {};
}

function isNotNull(schemaPart: unknown): boolean {
  return !isJsonRecord(schemaPart) || schemaPart["type"] !== "null";
}

/** The option that the message names, else the first. */
function toName(options: readonly unknown[], message: string): unknown {
  const namedValue = options.find(
    (option) =>
      typeof option === "string" && option !== "" && message.includes(option.toLowerCase()),
  );
  return namedValue ?? options[0];
}

function toType({ type, properties }: Record<string, unknown>): unknown {
  const [first] = Array.isArray(type) ? type.filter((name) => name !== "null") : [type];
  return first ?? (properties === undefined ? "string" : "object");
}

const textOfFormat: Readonly<Record<string, string>> = {
  date: "2026-01-01",
  "date-time": "2026-01-01T00:00:00Z",
  time: "00:00:00Z",
  email: "someone@example.com",
  uri: "https://example.com/",
};

function textFor({ format, maxLength }: Record<string, unknown>, promptedText: string): string {
  const formatText = typeof format === "string" ? textOfFormat[format] : undefined;
  return (
    formatText ?? promptedText.slice(0, typeof maxLength === "number" ? maxLength : longestText)
  );
}

function within({ minimum, maximum }: Record<string, unknown>, value: number): number {
  const least = typeof minimum === "number" ? minimum : Number.NEGATIVE_INFINITY;
  const most = typeof maximum === "number" ? maximum : Number.POSITIVE_INFINITY;
  return Math.min(Math.max(value, least), most);
}
