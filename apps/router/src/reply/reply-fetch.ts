import { StringDecoder } from "node:string_decoder";
import { setImmediate } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { BrokenReplyError, gatewayEvents, type ReadEvent, type ToolPiece } from "./reply-events.ts";
import type { TokenMeter } from "./reply.ts";

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

interface ReplyFetchOptions {
  /** Without a listener, a reply comes whole. */
  readonly listener?: ReplyListener | undefined;
  /** @default gatewayEvents */
  readonly readEvent?: ReadEvent;
}

/**
 * Returns a `fetch` for language models that limits a reply to 16 MiB. The text of a streamed reply
 * goes to the listener and only the rest to the `ai` package: its chain of web streams costs twice as
 * much for each delta as everything else (benchmark `stream`).
 */
export function replyFetch(
  fetch: typeof globalThis.fetch,
  { listener, readEvent = gatewayEvents }: ReplyFetchOptions = {},
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, status, statusText } = response;
    if (body === null) return response;
    const headers = new Headers(response.headers); // the body is decoded already
    for (const name of ["content-encoding", "content-length"]) headers.delete(name);
    const isStream = response.ok && listener !== undefined;
    const read = isStream ? readEvents(body, listener, readEvent) : readWhole(body);
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
  readEvent: ReadEvent,
): AsyncGenerator<Uint8Array> {
  const chunks = createChunkReader(readEvent, listener.meter);
  const reader = body.getReader();
  try {
    for (let chunk = await read(reader); chunk !== null; chunk = await read(reader)) {
      if (chunk.length >= LARGE_CHUNK_BYTES) await turn();
      const failure = chunks.feed(chunk);
      const { text, tools, rest } = chunks.parts;
      const waiting = text === "" ? undefined : listener.onText(text);
      if (waiting !== undefined) await waiting;
      if (tools.length > 0) await listener.onToolCalls(tools);
      if (failure !== null) throw failure;
      if (rest !== "") yield Buffer.from(rest);
    }
    if (!chunks.parts.isFinished) throw new BrokenReplyError(brokenOff);
  } finally {
    void reader.cancel().catch(() => undefined); // ends a call without a reader
  }
}

/** Joins the parts of all events in a chunk; `feed` returns a failure after the parts before it. */
function createChunkReader(readEvent: ReadEvent, meter: ReplyListener["meter"]) {
  const parts = { text: "", rest: "", tools: [] as ToolPiece[], isFinished: false };
  let bytes = 0;
  const parser = createParser({
    maxBufferSize: MAX_REPLY_BYTES,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new BrokenReplyError(tooLarge);
    },
    onEvent({ data }) {
      const part = readEvent(data);
      if (part.text !== "") bytes += Buffer.byteLength(part.text);
      for (const piece of part.tools ?? []) bytes += Buffer.byteLength(piece.text);
      if (bytes > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      parts.text += part.text;
      if (part.tools !== undefined) parts.tools.push(...part.tools);
      if (part.usage !== undefined) meter.reported = part.usage;
      parts.isFinished ||= part.isEnd === true;
      if (part.rest !== null) {
        parts.rest += `data: ${part.rest.replaceAll("\n", "\ndata: ")}\n\n`;
      }
    },
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
