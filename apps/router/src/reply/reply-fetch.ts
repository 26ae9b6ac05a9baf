import { StringDecoder } from "node:string_decoder";
import { setImmediate } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import type { TokenUsage } from "../prices/tokens.ts";
import { BrokenReplyError, gatewayEvents, type ReadEvent, type ToolPiece } from "./reply-events.ts";

/** What is called while a streamed reply comes. */
export interface ReplyListener {
  /** Called with the text, joined as far as it has come; nothing more is read until it is done. */
  readonly onText: (text: string) => void | Promise<void>;
  /** Called with pieces of tool calls; nothing more is read until it is done. */
  readonly onToolCalls: (pieces: readonly ToolPiece[]) => void | Promise<void>;
  /** Called with the tokens that the service names. */
  readonly onUsage: (usage: TokenUsage) => void;
}

/**
 * The largest reply, in bytes of its text, or of its whole body where it is not streamed: 16 MiB.
 * Chosen, not measured: no model writes as much.
 */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/**
 * A chunk from which on it waits for its turn; a few small deltas take no time worth a turn. Chosen,
 * not measured.
 */
const LARGE_CHUNK_BYTES = 4096;

/** What is called while a streamed reply comes, and how its events are read. */
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
      const { text, tools, rest, failure } = events.add(
        decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)),
      );
      const waiting = text === "" ? undefined : listener.onText(text);
      if (waiting !== undefined) await waiting;
      if (tools.length > 0) await listener.onToolCalls(tools);
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
const tooLarge = `The reply was ended: it is over ${MAX_REPLY_BYTES / 1024 / 1024} MiB, the most that the router passes on.`;

/** Collects the text of events apart from all that is left of them. */
function createEventSorter({ listener, readEvent }: EventReader) {
  const size = createSizeLimit();
  let text = "";
  let rest = "";
  let tools: ToolPiece[] = [];
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
      for (const piece of part.tools ?? []) {
        size.add(Buffer.byteLength(piece.text));
        tools.push(piece);
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
      if (tools.length > 0) tools = [];
      try {
        parser.feed(chunk);
      } catch (error) {
        failure = error;
      }
      return { text, tools, rest, failure };
    },
    /** Whether the reply has come to its own end; the end of the connection is none. */
    isFinished: () => isFinished,
  };
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

/** Reads the next chunk, or null; an end that nobody here asked for is an error in own words. */
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
