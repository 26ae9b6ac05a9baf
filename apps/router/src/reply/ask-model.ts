import { StringDecoder } from "node:string_decoder";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import { parseJson } from "evaluator-kit";
import { type Attempt, turn } from "./attempt.ts";
import { BrokenReplyError, brokenOff, MAX_REPLY_BYTES, notJson, tooLarge } from "./broken-reply.ts";
import { limitOutput } from "./output-limit.ts";
import type { ReplyPieces } from "./reply-pieces.ts";
import type { Target, Upstream } from "./upstream.ts";
import type { HttpError } from "../http-error.ts";
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
  const { upstream, model } = target;
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
      const whole = new Response(await readText(taken.body), taken);
      const answering = await upstream.languageModel(model, async () => whole);
      pieces.addWhole(await answering.doGenerate(options));
    } else await readEvents(taken.body, { attempt, pieces });
  } finally {
    await attempt.send(pieces.take()); // also those in front of a failure in one chunk
  }
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
    const limited = ok ? ReadableStream.from(limitLines(body)) : await readText(body);
    return new Response(limited, response);
  });
  const streamed: Promise<{ stream: ReadableStream<object>; taken?: undefined }> = Promise.resolve(
    languageModel.doStream(options),
  );
  return Promise.race([streamed, taken.promise]);
}

async function readEvents(body: Response["body"], { attempt, pieces }: Reading) {
  const parser = eventParser((data) => {
    if (data === "[DONE]") return;
    const part = parseJson(data);
    if (part === null) throw new BrokenReplyError(notJson);
    pieces.add(part as object);
  });
  await readBody(body, (text) => {
    parser.feed(text);
    return attempt.send(pieces.take());
  });
}

function eventParser(onData: (data: string) => void) {
  return createParser({
    maxBufferSize: MAX_REPLY_BYTES,
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new BrokenReplyError(tooLarge);
    },
    onEvent: ({ data }) => onData(data),
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

/** A client's request that an upstream of the same API takes unchanged. */
export interface PassedRequest {
  /** The type of an upstream that takes the body unchanged. */
  readonly upstreamType: Upstream["type"];
  /** The text of the body. */
  readonly json: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Thrown unless an upstream takes the body unchanged, for a field that the conversation cannot hold. */
  readonly unsupported: HttpError | null;
  /** All headers of the client. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Passing {
  readonly attempt: Attempt;
  readonly redact: Redact;
  readonly meter: TokenMeter;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Posts a client's JSON with another model, and passes the answer's text on; chat completions report their
 * usage. A whole answer to a client that streams is returned unread.
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
    const text = replaceValues(open, { model: target.model, ...counted });
    const sent = limitOutput(
      { ...init, body: text },
      { type: target.upstream.type, model: target.model },
    );
    return target.upstream.fetch(input, { ...sent, headers: all });
  };
  const call = { prompt: [], headers, abortSignal: attempt.signal };
  const own = { ...target, upstream: { ...target.upstream, fetch } };
  const { taken = new Response() } = await callModel(own, call, () => true);
  const readUsage = (text: string) => {
    addUsage(meter, parseJson(text));
  };
  if (isJson(taken)) {
    if (isStreamed) return taken;
    const whole = await readText(taken.body);
    meter.characters += whole.length; // an estimate if there is no usage
    readUsage(whole);
    await attempt.send(redact(whole));
    return null;
  }
  const pass = eventReader(readUsage, meter, isHidden);
  const pieces = redact.inPieces();
  await readBody(taken.body, (text) => attempt.send(pieces.add(pass(text))));
  await attempt.send(pieces.add(pass(null)) + pieces.end());
  return null;
}

/**
 * Replaces values of a JSON object's own fields, and changes nothing else, neither numbers nor white space.
 * Every field of a name is meant, in any case: servers read the last of two, and Ollama reads "MODEL" too.
 */
function replaceValues(json: string, values: Readonly<Record<string, unknown>>): string {
  const known = new Map(Object.entries(values));
  let [replaced, from, start, depth, string, field] = ["", 0, 0, 0, "", ""];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') {
      stringEnd.lastIndex = at + 1;
      stringEnd.test(json);
      string = json.slice(at, stringEnd.lastIndex);
      at = stringEnd.lastIndex - 1;
    }
    if (depth === 1 && character === ":") [field, start] = [JSON.parse(string) as string, at + 1];
    const isEnd = depth === 1 && (character === "," || character === "}");
    const value = isEnd ? known.get(field.toLowerCase()) : undefined;
    if (value !== undefined) {
      const given = json.slice(start, at);
      replaced +=
        json.slice(from, start) + given.replace(given.trim(), () => JSON.stringify(value));
      from = at;
    }
    if (character === "{" || character === "[") depth += 1;
    if (character === "}" || character === "]") depth -= 1;
  }
  return replaced + json.slice(from);
}

/** The end of a string: a quote behind an even number of backslashes. */
const stringEnd = /(?<!\\)(?:\\\\)*"/g;

/** Headers that change a reply in its form. No other one is passed: the client's key is the router's. */
const passedHeaders = ["anthropic-beta", "anthropic-version", "openai-beta"];

/** The texts in an event of each API, up to their ten-thousandth escape: more could take the stack's room. */
const eventTexts =
  /"(?:content|reasoning(?:_content)?|refusal|arguments|text|thinking|partial_json|delta)":\s*"([^"\\]*(?:\\.[^"\\]*){0,9999})/g;

function charactersOf(event: string): number {
  const texts = Array.from(event.matchAll(eventTexts), ([, text = ""]) => text);
  return Math.max(4, texts.join("").length); // an event has about a token at least, of four characters
}

/**
 * Returns a function that reads the events in a text, and returns those that are whole, since a comment or an
 * error may follow; null is the end. Events of usage alone may be hidden.
 */
function eventReader(readUsage: (data: string) => void, meter: TokenMeter, isHidden: boolean) {
  let [shown, held, last] = ["", "", "  "];
  const parser = eventParser((data) => {
    meter.characters += charactersOf(data);
    const hasUsage = /"usage":\s*\{/.test(data);
    if (hasUsage) readUsage(data);
    const isAlone = hasUsage && !/"choices":\s*\[\s*\{/.test(data);
    if (isHidden && !isAlone) shown += `data: ${data}\n\n`;
  });
  return (text: string | null) => {
    shown = "";
    parser.feed(text ?? "\n\n"); // the last event may lack its blank line
    if (isHidden || text === null) return isHidden ? shown : held;
    const seen = last + text;
    const end = Math.max(...blankLines.map((each) => seen.lastIndexOf(each) + each.length - 2));
    shown = end === 0 ? "" : held + text.slice(0, end);
    held = (end === 0 ? held : "") + text.slice(end);
    last = seen.slice(-2);
    return shown;
  };
}

const blankLines = ["\n\n", "\n\r\n", "\r\r"];

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

/** Limits the lines of a body to 16 MiB, since a provider's parser keeps a whole line. */
async function* limitLines(body: Body): AsyncGenerator<Chunk> {
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
