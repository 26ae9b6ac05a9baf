import { StringDecoder } from "node:string_decoder";
import type { LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from "@ai-sdk/provider";
import { estimateTextTokens } from "evaluator-client";
import { parseJson } from "evaluator-kit";
import { type Attempt, turn } from "./attempt.ts";
import {
  BrokenReplyError,
  brokenOff,
  MAX_REPLY_BYTES,
  noReply,
  notJson,
  serviceFailure,
  tooLarge,
} from "./broken-reply.ts";
import { cutLimits, limitOutput } from "./output-limit.ts";
import {
  checkWholeReply,
  eventParser,
  isStreamText,
  PassedEvents,
  toPlainEvents,
} from "./passed-events.ts";
import { replaceValues } from "./replace-values.ts";
import type { PassedRequest } from "./passed-request.ts";
import type { ReplyPieces } from "./reply-pieces.ts";
import type { UpstreamType } from "../conversation/to-call-options.ts";
import type { Target, Upstream } from "./upstream.ts";
import type { Redact } from "./redactor.ts";
import type { TokenMeter } from "./usage.ts";
import { addUsage } from "./usage-forms.ts";

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
  const { upstream } = target;
  // The gateway's events are the parts of a language model's stream.
  const isTaken = (response: Response) => upstream.type === "gateway" || isJson(response);
  const { taken, stream } = await callModel(target, options, isTaken);
  try {
    if (taken === undefined) {
      for await (const part of stream) {
        pieces.add(part);
        await attempt.send(pieces.take());
      }
    } else if (isJson(taken)) {
      const text = await readText(taken.body);
      if (isStreamText(text) === true) {
        const fetch = async () => new Response(text, { headers: asStream });
        const own = { ...target, upstream: { ...upstream, fetch } };
        await askModel(own, options, { attempt, pieces });
        return;
      }
      const body: unknown = upstream.type === "gateway" ? parseJson(text) : null;
      // The gateway's form is the providers' common one; they read all others, and explain what is none.
      if (hasContent(body)) pieces.addWhole({ ...body, response: { body } });
      else {
        const whole = async () => new Response(text, { headers: asJson });
        const reader = await upstream.languageModel(target.model, whole);
        pieces.addWhole(await reader.doGenerate(options));
      }
    } else await readEvents(taken.body, { attempt, pieces });
  } finally {
    await attempt.send(pieces.take()); // also those in front of a failure in one chunk
  }
}

function hasContent(body: unknown): body is LanguageModelV4GenerateResult {
  return Array.isArray((Object(body) as Partial<LanguageModelV4GenerateResult>).content);
}

/** Whether a response is a whole reply, as of a server that does not stream. */
function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.includes("json") === true;
}

/**
 * Calls a model through its provider, which knows the service's addresses, keys and errors. A
 * provider's chain of web streams costs twice as much for each delta as everything else (benchmark
 * `stream`), so the caller takes responses that need none, and the provider waits for them in vain.
 */
async function callModel(
  { upstream, model }: Target,
  options: LanguageModelV4CallOptions,
  isTaken: (response: Response) => boolean,
) {
  const taken = Promise.withResolvers<{ taken: Response; stream?: undefined }>();
  const languageModel = await upstream.languageModel(model, async (input, init) => {
    const sent = limitOutput(init, { type: upstream.type, model, most: options.maxOutputTokens });
    const response = await upstream.fetch(input, sent);
    const { body, ok } = response;
    if (ok && isTaken(response)) {
      taken.resolve({ taken: response });
      return Promise.withResolvers<never>().promise;
    }
    if (body === null) return response;
    const limited = ok
      ? ReadableStream.from(plainEvents(body, upstream.type))
      : await readText(body);
    return new Response(limited, response);
  });
  const streamed: Promise<{ stream: ReadableStream<object>; taken?: undefined }> = Promise.resolve(
    languageModel.doStream(options),
  );
  return Promise.race([streamed, taken.promise]);
}

async function readEvents(body: Response["body"], { attempt, pieces }: Reading) {
  const parser = eventParser(({ data }) => {
    if (data.trim() === "[DONE]") return;
    const part = parseJson(data);
    if (part === null) throw new BrokenReplyError(notJson);
    pieces.add(part as object);
  });
  await readBody(body, (text) => {
    parser.feed(text);
    return attempt.send(pieces.take());
  });
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

interface Passing {
  readonly attempt: Attempt;
  readonly redact: Redact;
  readonly meter: TokenMeter;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Posts a client's JSON with another model, and passes the answer's text on; chat completions report their
 * usage. An answer in the other form than the client asked for is returned, to be converted.
 */
export async function passRequest(
  target: Target,
  { json, body, upstreamType, headers: given = {} }: PassedRequest,
  { attempt, redact, meter, headers }: Passing,
): Promise<Response | null> {
  const options = Object(body["stream_options"]) as PassedRequest["body"];
  const isCounted = upstreamType !== "openai-chat" || options["include_usage"] === true;
  const isStreamed = body["stream"] === true;
  const isHidden = isStreamed && !isCounted;
  const counted = isHidden && { stream_options: { ...options, include_usage: true } };
  const fetch: Upstream["fetch"] = (input, init) => {
    const all = new Headers(init?.headers);
    for (const name of passedHeaders) if (given[name]) all.set(name, given[name]);
    const isOpen = !isHidden || "stream_options" in body;
    const open = isOpen ? json : json.replace("{", '{"stream_options":{},');
    // Not kept while the reply flows.
    const cut = cutLimits(body, target.capabilities?.maxOutputTokens);
    const text = replaceValues(open, { model: target.model, ...counted, ...cut });
    const sent = limitOutput(
      { ...init, body: text },
      { type: target.upstream.type, model: target.model },
    );
    return target.upstream.fetch(input, { ...sent, headers: all });
  };
  const call = { prompt: [], headers, abortSignal: attempt.signal };
  const own = { ...target, upstream: { ...target.upstream, fetch } };
  const { taken = new Response() } = await callModel(own, call, () => true);
  const passed = new PassedEvents({ type: upstreamType, isHidden, meter });
  const pieces = redact.inPieces();
  const pass = (text: string | null) => {
    const shown = pieces.add(passed.add(text)) + (text === null ? pieces.end() : "");
    if (shown === "") attempt.hear();
    const sending = attempt.send(shown);
    if (sending !== undefined) return sending.then(() => passed.throwIfFailed());
    return passed.throwIfFailed();
  };
  // A body is a stream or not by its text: labels are wrong. A client without a stream waits for all of it.
  let [whole, isStream] = ["", false as boolean | null];
  if (isStreamed) isStream = null;
  try {
    await readBody(taken.body, (text) => {
      if (isStream === true) return pass(text);
      whole += text;
      if (whole.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      isStream ??= isStreamText(whole);
      return isStream === true ? pass(whole) : attempt.hear();
    });
  } catch (error) {
    if (!passed.isEnded || !(error instanceof BrokenReplyError)) throw error;
    passed.throwIfFailed();
    await attempt.send(pieces.end());
    return null;
  }
  if (isStream === true) {
    await pass(null);
    return null;
  }
  if (isStreamText(whole) === true) return new Response(whole, { headers: asStream });
  checkWholeReply(upstreamType, whole);
  if (isStreamed) return new Response(whole, { headers: asJson });
  meter.written += estimateTextTokens(whole); // an estimate if there is no usage
  addUsage(meter, parseJson(whole));
  await attempt.send(redact(whole));
  return null;
}

const asStream = { "content-type": "text/event-stream" };
const asJson = { "content-type": "application/json" };

/** Headers that change a reply in its form. No other one is passed: the client's key is the router's. */
const passedHeaders = ["anthropic-beta", "anthropic-version", "openai-beta"];

/** Chunks of this size wait for their turn. Chosen: a few small deltas need no turn. */
const LARGE_CHUNK_BYTES = 4096;

type Body = Response["body"];
type Chunk = Uint8Array<ArrayBuffer>;

/** Reads a body, and no more of it until a call of `onText` is done. @throws BrokenReplyError */
async function readBody(body: Body, onText: (text: string) => void | Promise<void>) {
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

/**
 * Yields the events of a stream as a provider reads them: each in one line of up to 16 MiB, without comments
 * and names. @throws BrokenReplyError for a page or an error instead of a stream
 */
async function* plainEvents(body: Body, type: UpstreamType): AsyncGenerator<Uint8Array> {
  const decoder = new StringDecoder("utf8");
  let [events, page, isStream] = ["", "", null as boolean | null];
  const parser = eventParser(({ data }) => void (events += toPlainEvents(data, type)));
  try {
    for await (const chunk of body ?? []) {
      const text = decoder.write(Buffer.from(chunk));
      if (isStream !== true) page += text;
      if (page.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
      isStream ??= isStreamText(page);
      parser.feed(text);
      if (events !== "") yield Buffer.from(events);
      events = "";
    }
  } catch (error) {
    throw toBroken(error);
  }
  if (isStream !== true) throw serviceFailure(parseJson(page)) ?? new BrokenReplyError(noReply);
  parser.feed("\n\n"); // the last event may lack its blank line
  yield Buffer.from(events);
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
