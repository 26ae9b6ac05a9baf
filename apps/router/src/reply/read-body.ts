import { StringDecoder } from "node:string_decoder";
import { setImmediate } from "node:timers/promises";

/** A reply that broke off or grew too large; the message is the router's own. */
export class BrokenReplyError extends Error {
  override readonly name = "BrokenReplyError";
}

/** The largest reply: bytes of text, or of a whole body. Chosen: no model writes as much. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** The message of a reply over the limit. */
export const tooLarge = `The reply was ended: it is over ${MAX_REPLY_BYTES / 1024 / 1024} MiB, the router's limit.`;

/** The message of a reply with an invalid event. */
export const notJson = "The reply broke off: the model's service sent an event that is not JSON.";

/** The message of a reply without its end. */
export const brokenOff =
  "The reply broke off: the connection to the model's service ended before the reply did. Send the message again for a whole one.";

/** Chunks of this size wait for their turn. Chosen: a few small deltas need no turn. */
const LARGE_CHUNK_BYTES = 4096;

type Body = Response["body"];
type Chunk = Uint8Array<ArrayBuffer>;

/** Reads a body, and no more of it until a call of `onText` is done. @throws BrokenReplyError */
export async function readBody(body: Body, onText: (text: string) => void | Promise<void>) {
  const decoder = new StringDecoder("utf8"); // a third of a streaming TextDecoder's time
  const reader = body?.getReader();
  try {
    for (let chunk = await read(reader); chunk !== null; chunk = await read(reader)) {
      if (chunk.length >= LARGE_CHUNK_BYTES) await turn();
      const text = decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
      const waiting = onText(text);
      if (waiting !== undefined) await waiting;
    }
  } finally {
    void reader?.cancel().catch(() => undefined); // ends a call without a reader
  }
}

/** Limits the lines of a body to 16 MiB, since a provider's parser keeps a whole line. */
export async function* limitLines(body: Body): AsyncGenerator<Chunk> {
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      const lastLine = chunk.lastIndexOf(0x0a) + 1;
      bytes = (lastLine === 0 ? bytes : 0) + chunk.length - lastLine;
      if (bytes > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      yield chunk;
    }
  } catch (error) {
    throw toBroken(error);
  }
}

async function read(reader: ReadableStreamDefaultReader<Chunk> | undefined): Promise<Chunk | null> {
  try {
    return (await reader?.read())?.value ?? null;
  } catch (error) {
    throw toBroken(error);
  }
}

/** The connection's unexpected end is a TypeError; a client's abort and a time limit are none. */
function toBroken(error: unknown): unknown {
  return error instanceof TypeError ? new BrokenReplyError(brokenOff, { cause: error }) : error;
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Lets one large chunk or new call pass per round of the event loop: 500 calls at once would block it for 0.7 s. */
export function turn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}
