import { parseJson } from "evaluator-kit";
import type { HttpError } from "../http-error.ts";
import { callModel, isJson } from "./ask-model.ts";
import type { Attempt } from "./attempt.ts";
import { BrokenReplyError, MAX_REPLY_BYTES, readBody, tooLarge } from "./read-body.ts";
import type { Redact } from "./redactor.ts";
import { mergeUsage, type TokenMeter, type TokenUsage } from "./usage.ts";
import type { Target, Upstream } from "./upstream.ts";

/** A client's request that an upstream of the same API takes unchanged. */
export interface PassedRequest {
  readonly upstreamType: Upstream["type"];
  readonly body: Readonly<Record<string, unknown>>;
  /** Thrown unless the body is passed on, for a field that the conversation cannot hold. */
  readonly unsupported: HttpError | null;
  /** Reads the tokens of an event or a body; null if it has none. */
  readonly usageOf: (event: unknown) => TokenUsage | null;
  /** All headers of the client. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Passing {
  readonly attempt: Attempt;
  readonly redact: Redact;
  readonly meter: TokenMeter;
  readonly headers: Readonly<Record<string, string>>;
}

/** Posts a client's body with another model, and passes the answer's text on. */
export async function passRequest(
  target: Target,
  { body, usageOf, headers: given = {} }: PassedRequest,
  { attempt, redact, meter, headers }: Passing,
): Promise<void> {
  const text = JSON.stringify({ ...body, model: target.model });
  const fetch: typeof globalThis.fetch = (input, init) => {
    const own = new Headers(init?.headers);
    for (const name of passedHeaders) if (given[name]) own.set(name, given[name]);
    return target.upstream.fetch(input, { ...init, body: text, headers: own });
  };
  const call = { prompt: [], headers, abortSignal: attempt.signal };
  const { taken = new Response() } = await callModel(target, call, { fetch, isTaken: () => true });
  const usage = createUsageReader(usageOf, meter, isJson(taken));
  const pieces = redact.inPieces();
  await readBody(taken.body, (text) => {
    usage.add(text);
    return attempt.sendBytes(pieces.add(text));
  });
  usage.end();
  await attempt.sendBytes(pieces.end());
}

/** Headers that change a reply in its form. No other one is passed: the client's key is the router's. */
const passedHeaders = ["anthropic-beta", "anthropic-version", "openai-beta"];

/** An event is about a token; a token is about four characters. */
const CHARACTERS_PER_EVENT = 4;

/** Reads the usage in a body of JSON, or in the events with one. */
function createUsageReader(usageOf: PassedRequest["usageOf"], meter: TokenMeter, isWhole: boolean) {
  let rest = "";
  const read = (text: string) => {
    const usage = usageOf(parseJson(text));
    if (usage !== null) meter.reported = mergeUsage(meter.reported, usage);
  };
  const keep = (text: string) => {
    rest += text;
    if (rest.length > MAX_REPLY_BYTES) throw new BrokenReplyError(tooLarge);
  };
  return {
    add(text: string) {
      const end = isWhole ? -1 : text.lastIndexOf("\n");
      if (end === -1) return keep(text);
      const lines = `\n${rest}${text.slice(0, end)}`.split("\ndata:");
      rest = text.slice(end + 1);
      meter.characters += (lines.length - 1) * CHARACTERS_PER_EVENT;
      for (const line of lines) if (/"usage":\s*\{/.test(line)) read(line);
    },
    end() {
      if (!isWhole) return;
      meter.characters += rest.length; // an estimate if there is no usage
      read(rest);
    },
  };
}
