import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import type { Attempt } from "./attempt.ts";
import {
  BrokenReplyError,
  limitLines,
  MAX_REPLY_BYTES,
  notJson,
  readBody,
  tooLarge,
} from "./read-body.ts";
import type { ReplyPieces } from "./reply-pieces.ts";
import type { Target } from "./upstream.ts";

interface Reading {
  readonly attempt: Attempt;
  readonly pieces: ReplyPieces;
}

/** Asks a model and passes its reply on, streamed by the service or not. */
export async function askModel(
  target: Target,
  options: LanguageModelV4CallOptions,
  { attempt, pieces }: Reading,
): Promise<void> {
  const { upstream, model } = target;
  // The gateway's events are the parts of a language model's stream.
  const isTaken = (response: Response) => upstream.type === "gateway" || isJson(response);
  const { taken, stream } = await callModel(target, options, { isTaken });
  try {
    if (taken === undefined) await readStream(stream, { attempt, pieces });
    else if (isJson(taken)) {
      const whole = new Response(await readText(taken.body), taken);
      const answering = await upstream.languageModel(model, async () => whole);
      pieces.addWhole(await answering.doGenerate(options));
    } else await readEvents(taken.body, { attempt, pieces });
  } finally {
    await attempt.sendPieces(pieces.take()); // also those in front of a failure in one chunk
  }
}

/** Whether a response is a whole reply, as of a server that does not stream. */
export function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.includes("json") === true;
}

interface Taking {
  /** Whether the caller reads a response in place of the provider, which then waits for it in vain. */
  readonly isTaken: (response: Response) => boolean;
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Calls a model through its provider, which knows the service's addresses, keys and errors. A
 * provider's chain of web streams costs twice as much for each delta as everything else (benchmark
 * `stream`), so responses that need none are taken.
 */
export async function callModel(
  { upstream, model }: Target,
  options: LanguageModelV4CallOptions,
  { isTaken, fetch = upstream.fetch }: Taking,
) {
  const taken = Promise.withResolvers<{ taken: Response; stream?: undefined }>();
  const languageModel = await upstream.languageModel(model, async (input, init) => {
    const response = await fetch(input, init);
    const { body, ok } = response;
    if (ok && isTaken(response)) {
      taken.resolve({ taken: response });
      return Promise.withResolvers<never>().promise;
    }
    if (body === null) return response;
    const limited = ok ? ReadableStream.from(limitLines(body)) : await readText(body);
    return new Response(limited, response);
  });
  const streamed: Promise<{ stream: ReadableStream<object>; taken?: undefined }> = Promise.resolve(
    languageModel.doStream(options),
  );
  return Promise.race([streamed, taken.promise]);
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

/** Returns the text of a body of up to 16 MiB. @throws BrokenReplyError */
async function readText(body: Response["body"]): Promise<string> {
  let whole = "";
  await readBody(body, (text) => {
    whole += text;
    if (whole.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
  });
  return whole;
}
