import { StringDecoder } from "node:string_decoder";
import { setImmediate } from "node:timers/promises";
import { BrokenReplyError, brokenOff, MAX_REPLY_BYTES, tooLarge } from "./broken-reply-error.ts";

/** Chunks of this size wait for their turn. Chosen: a few small deltas need no turn. */
const LARGE_CHUNK_BYTES = 4096;

type Body = Response["body"];

/** Reads a body, and no more of it until a call of `onText` is done. @throws BrokenReplyError */
export async function readBody(
  body: Body,
  onText: (text: string) => void | Promise<void>,
): Promise<void> {
  const decoder = new StringDecoder("utf8"); // a third of a streaming TextDecoder's time
  for await (const chunk of chunksOf(body)) {
    if (chunk.length >= LARGE_CHUNK_BYTES) await turn();
    const waiting = onText(
      decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)),
    );
    if (waiting !== undefined) await waiting;
  }
}

/** Returns the text of a body of up to 16 MiB. @throws BrokenReplyError */
export async function readText(body: Body): Promise<string> {
  let whole = "";
  await readBody(body, (text) => {
    whole += text;
    if (whole.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
  });
  return whole;
}

/** Yields a body whose lines have up to 16 MiB: a parser of events keeps a whole line. */
export async function* chunksOf(body: Body): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const chunk = (await reader?.read().catch(throwBroken))?.value;
      if (chunk === undefined) return;
      const lastLine = chunk.lastIndexOf(0x0a) + 1;
      bytes = (lastLine === 0 ? bytes : 0) + chunk.length - lastLine;
      if (bytes > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      yield chunk;
    }
  } finally {
    void reader?.cancel().catch(() => undefined); // ends a call without a reader
  }
}

/** The connection's unexpected end is a TypeError; a client's abort or a time limit is none. */
function throwBroken(error: unknown): never {
  if (!(error instanceof TypeError)) throw error;
  throw new BrokenReplyError(brokenOff, { cause: error });
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Lets one large chunk per round of the event loop pass: 64 at once would block it for 0.1 s. */
function turn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}
