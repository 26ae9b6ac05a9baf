import { StringDecoder } from "node:string_decoder";
import { setImmediate } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { openAiUsage, type TokenUsage, wireUsage } from "./reply.ts";

/** Who is told of a streamed reply while it comes. */
export interface ReplyListener {
  /** Is given the text, joined as far as it has come; nothing more is read until it is done. */
  readonly onText: (text: string) => void | Promise<void>;
  /** Is given the tokens that the service tells. */
  readonly onUsage: (usage: TokenUsage) => void;
}

/** The largest reply, in bytes of its text, or of its whole body where it is not streamed: 16 MiB. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** A chunk from which on it waits for its turn; a few small deltas take no time worth a turn. */
const LARGE_CHUNK_BYTES = 4096;

/** A reply that broke off or grew too large; the message is the router's own. */
export class BrokenReplyError extends Error {
  override readonly name = "BrokenReplyError";
}

/** Who is told of a streamed reply, and how its events are read. */
export interface ReplyFetchOptions {
  /** Without one, a reply comes whole. */
  readonly listener?: ReplyListener | undefined;
  /** @default gatewayEvents */
  readonly readEvent?: ReadEvent;
}

/**
 * Returns a `fetch` for language models that ends a reply over {@link MAX_REPLY_BYTES}.
 * Of a streamed one it gives the text to the listener, and only the rest to the `ai` package, whose
 * chain of web streams costs twice as much for each delta as all else (benchmark `stream`).
 */
export function replyFetch(
  fetch: typeof globalThis.fetch,
  { listener, readEvent = gatewayEvents }: ReplyFetchOptions = {},
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const isStream = response.ok && listener !== undefined;
    const read = isStream ? readEvents(body, { listener, readEvent }) : readWhole(body);
    return new Response(ReadableStream.from(read), { status, statusText, headers: plain(headers) });
  };
}

/** The headers that still hold for a body that is decoded already. */
function plain(headers: Headers): Headers {
  const left = new Headers(headers);
  for (const name of ["content-encoding", "content-length"]) left.delete(name);
  return left;
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

async function* readWhole(body: Body): AsyncGenerator<Uint8Array> {
  const size = createSizeLimit();
  const reader = body.getReader();
  try {
    for (let chunk = await read(reader); chunk !== null; chunk = await read(reader)) {
      size.add(chunk.length);
      yield chunk;
    }
  } finally {
    void reader.cancel().catch(() => undefined); // ends a call that nobody reads on
  }
}

interface EventReader {
  readonly listener: ReplyListener;
  readonly readEvent: ReadEvent;
}

async function* readEvents(body: Body, options: EventReader): AsyncGenerator<Uint8Array> {
  const { listener } = options;
  const decoder = new StringDecoder("utf8"); // a third of a streaming TextDecoder's time
  const events = createEventSorter(options);
  const reader = body.getReader();
  try {
    for (let chunk = await read(reader); chunk !== null; chunk = await read(reader)) {
      if (chunk.length >= LARGE_CHUNK_BYTES) await turn();
      const { text, rest, failure } = events.add(
        decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)),
      );
      const waiting = text === "" ? undefined : listener.onText(text);
      if (waiting !== undefined) await waiting;
      if (failure !== null) throw failure;
      if (rest !== "") yield Buffer.from(rest);
    }
    if (!events.isFinished()) throw new BrokenReplyError(brokenOff);
  } finally {
    void reader.cancel().catch(() => undefined); // ends a call that nobody reads on
  }
}

const brokenOff =
  "The reply broke off: the connection to the model's service ended before the reply did. Send the message again for a whole one.";
const notJson = "The reply broke off: the model's service sent an event that is not JSON.";
const tooLarge = `The reply was ended: it is over ${MAX_REPLY_BYTES / 1024 / 1024} MiB, the most that the router passes on.`;

/** What the router takes itself from one streamed event; the `ai` package is given what is left. */
interface ReadPart {
  /** A piece of the reply; empty where it holds none. */
  readonly text: string;
  /** The data of the event for the `ai` package, or null when nothing is left for it. */
  readonly rest: string | null;
  readonly usage?: TokenUsage;
  /** Whether it is the reply's own end. */
  readonly isEnd?: boolean;
}

/** Reads the data of one event. Throws a BrokenReplyError for one that is an error, or no JSON. */
type ReadEvent = (data: string) => ReadPart;

const nothing: ReadPart = { text: "", rest: null };

/** Reads an event of the gateway's own stream. */
const gatewayEvents: ReadEvent = (data) => {
  if (data === "[DONE]") return { text: "", rest: data }; // the mark that some end theirs with
  const part = parsePart(data);
  if (part.type === "reasoning-delta") return nothing; // nobody is shown it
  if (part.type === "text-delta" && typeof part.delta === "string") {
    return { text: part.delta, rest: null };
  }
  if (part.type === "error") throw new BrokenReplyError(wordsOf(part.error));
  if (part.type !== "finish") return { text: "", rest: data };
  return { text: "", rest: data, usage: wireUsage(part.usage), isEnd: true };
};

/** Reads an event of OpenAI's chat API, as many servers speak it. */
export const openAiEvents: ReadEvent = (data) => {
  if (data === "[DONE]") return { text: "", rest: data, isEnd: true };
  const part = parsePart(data);
  if (part.error !== undefined && part.error !== null) {
    throw new BrokenReplyError(wordsOf(part.error));
  }
  const choice = Array.isArray(part.choices) ? (part.choices[0] as OpenAiChoice | undefined) : null;
  const content = choice?.delta?.content;
  const text = typeof content === "string" ? content : "";
  const isEnd = typeof choice?.finish_reason === "string";
  const isTold = part.usage !== undefined && part.usage !== null;
  if (!isEnd && !isTold) return text === "" ? nothing : { text, rest: null };
  const choices = choice ? [{ ...choice, delta: {} }] : [];
  const rest = JSON.stringify({ ...part, choices });
  return { text, rest, isEnd, ...(isTold && { usage: openAiUsage(part.usage) }) };
};

interface OpenAiChoice {
  readonly delta?: { readonly content?: unknown } | null;
  readonly finish_reason?: unknown;
}

/** Collects the text of events apart from all that is left of them. */
function createEventSorter({ listener, readEvent }: EventReader) {
  const size = createSizeLimit();
  let text = "";
  let rest = "";
  let isFinished = false;
  const parser = createParser({
    maxBufferSize: MAX_REPLY_BYTES,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new BrokenReplyError(tooLarge);
    },
    onEvent({ data }) {
      const part = readEvent(data);
      if (part.text !== "") {
        size.add(Buffer.byteLength(part.text));
        text += part.text;
      }
      if (part.usage !== undefined) listener.onUsage(part.usage);
      isFinished ||= part.isEnd === true;
      if (part.rest !== null) rest += `data: ${part.rest.replaceAll("\n", "\ndata: ")}\n\n`;
    },
  });
  return {
    /** Returns what a chunk brought, up to what broke the reply off. */
    add(chunk: string) {
      let failure: unknown = null;
      text = rest = "";
      try {
        parser.feed(chunk);
      } catch (error) {
        failure = error;
      }
      return { text, rest, failure };
    },
    /** Whether the reply has come to its own end; the end of the connection is none. */
    isFinished: () => isFinished,
  };
}

/** What is looked at in an event, whoever sent it. */
interface StreamPart {
  readonly type?: unknown;
  readonly delta?: unknown;
  readonly choices?: unknown;
  readonly usage?: unknown;
  readonly error?: unknown;
}

function parsePart(data: string): StreamPart {
  try {
    return (JSON.parse(data) ?? {}) as StreamPart;
  } catch (error) {
    throw new BrokenReplyError(notJson, { cause: error });
  }
}

/** What is sent for an error is a text, or an object with a message. */
function wordsOf(error: unknown): string {
  const isObject = typeof error === "object" && error !== null && "message" in error;
  const told: unknown = isObject ? error.message : error;
  const words = typeof told === "string" && told !== "" ? told : "its service did not say why.";
  return `The reply broke off: ${words}`;
}

function createSizeLimit() {
  let bytes = 0;
  return {
    add(more: number): void {
      bytes += more;
      if (bytes > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
    },
  };
}

/** The next chunk, or null; an end of the connection that nobody here asked for is told in own words. */
async function read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  try {
    return (await reader.read()).value ?? null;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // a client's abort, or a time limit
    throw new BrokenReplyError(brokenOff, { cause: error });
  }
}

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Waits until no other large chunk is before this one. One chunk for each round of the event loop
 * lets everything else in between, where 64 at once would hold it up for a tenth of a second.
 */
function turn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}
