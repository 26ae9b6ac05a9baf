import { StringDecoder } from "node:string_decoder";
import type { StreamedResponse } from "evaluator-client/http";
import { turn } from "./attempt.ts";
import { BrokenReplyError, brokenOff, MAX_REPLY_BYTES, tooLarge } from "./broken-reply.ts";

/** Chunks of this size wait for their turn. Chosen: a few small deltas need no turn. */
const LARGE_CHUNK_BYTES = 4096;

/** Reads a body, and no more of it until a call of `onText` is done. @throws BrokenReplyError */
export async function readBody(
  { read }: StreamedResponse,
  onText: (decodedText: string) => void | Promise<void>,
): Promise<void> {
  const utf8Decoder = new StringDecoder("utf8"); // a third of a streaming TextDecoder's time
  const reading = read((chunk) => {
    const text = utf8Decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    return chunk.length < LARGE_CHUNK_BYTES ? onText(text) : turn().then(() => onText(text));
  });
  // The connection's unexpected end is a TypeError; a client's abort and a time limit are none.
  await reading.catch((error: unknown) => {
    throw error instanceof TypeError ? new BrokenReplyError(brokenOff, { cause: error }) : error;
  });
}

/** Returns the text of a body of up to 16 MiB. @throws BrokenReplyError */
export async function readText(response: StreamedResponse): Promise<string> {
  let wholeText = "";
  await readBody(response, (decodedText) => {
    wholeText += decodedText;
    if (wholeText.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
  });
  return wholeText;
}
