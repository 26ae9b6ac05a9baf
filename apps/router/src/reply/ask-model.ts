import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import type { Attempt } from "./attempt.ts";
import { BrokenReplyError, MAX_REPLY_BYTES, notJson, tooLarge } from "./broken-reply-error.ts";
import { limitLines, readBody, readText } from "./read-body.ts";
import type { ReplyPieces } from "./reply-pieces.ts";
import type { Target } from "./upstream.ts";

interface Reading {
  readonly attempt: Attempt;
  readonly pieces: ReplyPieces;
}

/** Asks a model through its provider and passes its reply on, streamed by the service or not. */
export async function askModel(
  { upstream, model }: Target,
  options: LanguageModelV4CallOptions,
  { attempt, pieces }: Reading,
): Promise<void> {
  const taken: Response[] = [];
  const fetch = takeResponse(upstream, (response) => taken.push(response));
  const { stream } = await (await upstream.languageModel(model, fetch)).doStream(options);
  const [response] = taken;
  try {
    if (response === undefined) await readStream(stream, { attempt, pieces });
    else if (isJson(response)) {
      const whole = new Response(await readText(response.body), response);
      const answering = await upstream.languageModel(model, async () => whole);
      pieces.addWhole(await answering.doGenerate(options));
    } else await readEvents(response.body, { attempt, pieces });
  } finally {
    await attempt.sendPieces(pieces.take()); // also those in front of a failure in one chunk
  }
}

/** Whether a response is a whole reply, as of a server that does not stream. */
export function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.includes("json") === true;
}

/**
 * Returns a `fetch` that gives the provider an empty stream in place of a reply that is read here:
 * one that is not streamed, and the gateway's events, which are the parts of a language model's
 * stream. The provider's chain of web streams costs twice as much for each delta as everything
 * else (benchmark `stream`).
 */
function takeResponse(
  { type, fetch }: Target["upstream"],
  take: (response: Response) => void,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok && (type === "gateway" || isJson(response))) {
      take(response);
      return new Response("", { headers: { "content-type": "text/event-stream" } });
    }
    if (response.body === null) return response;
    const { body, ok } = response;
    return new Response(
      ok ? ReadableStream.from(limitLines(body)) : await readText(body),
      response,
    );
  };
}

async function readStream(stream: ReadableStream<object>, { attempt, pieces }: Reading) {
  for await (const part of stream) {
    pieces.add(part);
    await attempt.sendPieces(pieces.take());
  }
}

async function readEvents(body: Response["body"], { attempt, pieces }: Reading) {
  const parser = createParser({
    maxBufferSize: MAX_REPLY_BYTES,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new BrokenReplyError(tooLarge);
    },
    onEvent: ({ data }) => {
      if (data !== "[DONE]") pieces.add(parsePart(data));
    },
  });
  await readBody(body, (text) => {
    parser.feed(text);
    return attempt.sendPieces(pieces.take());
  });
}

function parsePart(data: string): object {
  try {
    return (JSON.parse(data) ?? {}) as object;
  } catch (error) {
    throw new BrokenReplyError(notJson, { cause: error });
  }
}
