import { StringDecoder } from "node:string_decoder";
import { setImmediate } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { BrokenReplyError, type TokenMeter, type ToolPiece, toTokenUsage } from "./reply.ts";

/** Receives a streamed reply; no more of it is read until a call is done. */
export interface ReplyListener {
  /** Called with the joined text of a chunk. */
  readonly onText: (text: string) => void | Promise<void>;
  readonly onToolCalls: (pieces: readonly ToolPiece[]) => void | Promise<void>;
  readonly meter: Pick<TokenMeter, "reported">;
}

/** The largest reply: bytes of text, or of a whole body. Chosen: no model writes as much. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** Chunks of this size wait for their turn. Chosen: a few small deltas need no turn. */
const LARGE_CHUNK_BYTES = 4096;

/**
 * Returns a `fetch` for language models that limits a reply to 16 MiB. With a listener, the text goes
 * to it and only the rest to the `ai` package: its chain of web streams costs twice as much for each
 * delta as everything else (benchmark `stream`). `isOpenAi` is for events of OpenAI's chat API.
 */
export function replyFetch(
  fetch: typeof globalThis.fetch,
  listener: ReplyListener | undefined,
  isOpenAi = false,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, status, statusText } = response;
    if (body === null) return response;
    const headers = new Headers(response.headers); // the body is decoded already
    for (const name of ["content-encoding", "content-length"]) headers.delete(name);
    const isStream = response.ok && listener !== undefined;
    const read = isStream
      ? readEvents(body, listener, isOpenAi ? addOpenAiEvent : addGatewayEvent)
      : readWhole(body);
    return new Response(ReadableStream.from(read), { status, statusText, headers });
  };
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

async function* readWhole(body: Body): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  const reader = body.getReader();
  try {
    for (let chunk = await read(reader); chunk !== null; chunk = await read(reader)) {
      bytes += chunk.length;
      if (bytes > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      yield chunk;
    }
  } finally {
    void reader.cancel().catch(() => undefined); // ends a call without a reader
  }
}

/** Passes text and tool calls to the listener, and yields the other events. */
async function* readEvents(
  body: Body,
  listener: ReplyListener,
  addEvent: AddEvent,
): AsyncGenerator<Uint8Array> {
  const chunks = createChunkReader(addEvent);
  const { parts } = chunks;
  const reader = body.getReader();
  try {
    for (let chunk = await read(reader); chunk !== null; chunk = await read(reader)) {
      if (chunk.length >= LARGE_CHUNK_BYTES) await turn();
      const failure = chunks.feed(chunk);
      const { text, tools, rest } = parts;
      if (parts.usage !== null) listener.meter.reported = parts.usage;
      const waiting = text === "" ? undefined : listener.onText(text);
      if (waiting !== undefined) await waiting;
      if (tools.length > 0) await listener.onToolCalls(tools);
      if (failure !== null) throw failure;
      if (rest !== "") yield Buffer.from(rest);
    }
    if (!parts.isFinished) throw new BrokenReplyError(brokenOff);
  } finally {
    void reader.cancel().catch(() => undefined); // ends a call without a reader
  }
}

/** Joins the parts of all events in a chunk; `feed` returns a failure after the parts before it. */
function createChunkReader(addEvent: AddEvent) {
  const parts = emptyParts();
  const parser = createParser({
    maxBufferSize: MAX_REPLY_BYTES,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new BrokenReplyError(tooLarge);
    },
    onEvent: ({ data }) => addEvent(data, parts),
  });
  const decoder = new StringDecoder("utf8"); // a third of a streaming TextDecoder's time
  return {
    parts,
    feed(chunk: Uint8Array): unknown {
      parts.text = parts.rest = "";
      if (parts.tools.length > 0) parts.tools = [];
      try {
        parser.feed(decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)));
        return null;
      } catch (error) {
        return error;
      }
    },
  };
}

const brokenOff =
  "The reply broke off: the connection to the model's service ended before the reply did. Send the message again for a whole one.";
const tooLarge = `The reply was ended: it is over ${MAX_REPLY_BYTES / 1024 / 1024} MiB, the router's limit.`;

/** Reads the next chunk, or null; an unexpected end is a BrokenReplyError. */
async function read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  try {
    return (await reader.read()).value ?? null;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // a client's abort, or a time limit
    throw new BrokenReplyError(brokenOff, { cause: error });
  }
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Lets one large chunk per round of the event loop pass: 64 at once would block it for 0.1 s. */
function turn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

type ReplyParts = ReturnType<typeof emptyParts>;

function emptyParts() {
  return {
    text: "",
    tools: [] as ToolPiece[],
    /** The size of the text and the tool calls of all chunks. */
    bytes: 0,
    /** The events for the `ai` package. */
    rest: "",
    /** The last reported tokens of the reply. */
    usage: null as TokenMeter["reported"],
    isFinished: false,
  };
}

/** Adds the data of one event. Throws a BrokenReplyError for an error event or invalid JSON. */
type AddEvent = (data: string, parts: ReplyParts) => void;

/** Adds the text and the tool calls of one event. @throws BrokenReplyError at the limit, without them. */
function add(parts: ReplyParts, text: string, tools: readonly ToolPiece[] = []): void {
  parts.bytes += Buffer.byteLength(text);
  for (const piece of tools) parts.bytes += Buffer.byteLength(piece.text);
  if (parts.bytes > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
  parts.text += text;
  parts.tools.push(...tools);
}

/** Adds an event of the gateway's stream (language model specification v4). */
const addGatewayEvent: AddEvent = (data, parts) => {
  if (data === "[DONE]") return passOn(data, parts); // some gateways end with this mark
  const { type, id, delta, toolName, toolCallId, input, usage, error } = parsePart(data);
  switch (type) {
    case "text-delta":
      if (typeof delta !== "string") return passOn(data, parts);
      return add(parts, delta);
    case "reasoning-delta": // clients are not shown it
    case "tool-input-end":
      return;
    case "error":
      throw new BrokenReplyError(wordsOf(error));
    case "tool-input-start":
      return add(parts, "", [
        { key: String(id), id: String(id), name: String(toolName), text: "" },
      ]);
    case "tool-input-delta":
      return add(parts, "", [{ key: String(id), text: String(delta) }]);
    case "tool-call": {
      const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
      const key = String(toolCallId);
      return add(parts, "", [{ key, id: key, name: String(toolName), text, isWhole: true }]);
    }
    case "finish": {
      const { inputTokens, outputTokens } = (usage ?? {}) as GatewayUsage;
      parts.usage = toTokenUsage(inputTokens?.total, outputTokens?.total);
      parts.isFinished = true;
      return passOn(data, parts);
    }
    default:
      return passOn(data, parts);
  }
};

function passOn(data: string, parts: ReplyParts): void {
  parts.rest += `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
}

type GatewayUsage = Readonly<Record<string, { readonly total?: unknown } | null>>;

/** Adds an event of OpenAI's chat API, as many servers send it. */
const addOpenAiEvent: AddEvent = (data, parts) => {
  const part = data === "[DONE]" ? null : parsePart(data);
  if (part === null) {
    parts.isFinished = true;
    return passOn(data, parts);
  }
  const { error, choices: given, usage } = part;
  if (error !== undefined && error !== null) throw new BrokenReplyError(wordsOf(error));
  const choice = Array.isArray(given) ? (given[0] as OpenAiChoice | undefined) : null;
  const { content, tool_calls: called } = choice?.delta ?? {};
  const text = typeof content === "string" ? content : "";
  add(parts, text, Array.isArray(called) ? called.map(toToolPiece) : []);
  const isEnd = typeof choice?.finish_reason === "string";
  const counts = usage as Record<string, unknown> | null | undefined;
  if (counts) parts.usage = toTokenUsage(counts["prompt_tokens"], counts["completion_tokens"]);
  if (!isEnd && counts == null) return;
  parts.isFinished ||= isEnd;
  const choices = choice ? [{ ...choice, delta: {} }] : [];
  passOn(JSON.stringify({ ...part, choices }), parts);
};

interface OpenAiChoice {
  readonly delta?: { readonly content?: unknown; readonly tool_calls?: unknown } | null;
  readonly finish_reason?: unknown;
}

interface OpenAiToolCall {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

/** Some servers send each call whole and without its number. */
function toToolPiece(call: OpenAiToolCall | null, position: number): ToolPiece {
  const { index, id, function: called } = call ?? {};
  const named = typeof id === "string" && id !== "" ? id : null;
  const text = called?.arguments ?? "";
  return {
    key: typeof index === "number" ? index : (named ?? position),
    ...(named !== null && { id: named }),
    ...(typeof called?.name === "string" && { name: called.name }),
    text: typeof text === "string" ? text : JSON.stringify(text),
  };
}

function parsePart(data: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(data) ?? {}) as Record<string, unknown>;
  } catch (error) {
    const message = "The reply broke off: the model's service sent an event that is not JSON.";
    throw new BrokenReplyError(message, { cause: error });
  }
}

/** An error is a text, or an object with a message. */
function wordsOf(error: unknown): string {
  const isObject = typeof error === "object" && error !== null && "message" in error;
  const given: unknown = isObject ? error.message : error;
  const words = typeof given === "string" && given !== "" ? given : "its service gave no reason.";
  return `The reply broke off: ${words}`;
}
