import { APICallError } from "ai";
import type { HttpError } from "../http-error.ts";
import type { Attempt } from "./attempt.ts";
import { isJson } from "./ask-model.ts";
import { BrokenReplyError, MAX_REPLY_BYTES, tooLarge } from "./broken-reply-error.ts";
import { readBody, readText } from "./read-body.ts";
import type { Redact } from "./redactor.ts";
import { mergeUsage, type TokenMeter, type TokenUsage } from "./usage.ts";
import type { Upstream } from "./upstream.ts";

/** A client's request that an upstream of the same API takes unchanged. */
export interface PassedRequest {
  readonly upstreamType: Upstream["type"];
  readonly body: Readonly<Record<string, unknown>>;
  /** Thrown unless the body is passed on, for a field that the conversation cannot hold. */
  readonly unsupported: HttpError | null;
  /** Reads the tokens of an event or a body; null if it has none. */
  readonly usageOf: (event: unknown) => TokenUsage | null;
  /** Headers of the client that change the reply, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Passing {
  readonly attempt: Attempt;
  readonly redact: Redact;
  readonly meter: TokenMeter;
  readonly headers: Readonly<Record<string, string>>;
}

type Post = NonNullable<Upstream["post"]>;

/** Posts a client's body with another model, and passes the answer's text on. */
export async function passRequest(
  { post, model }: { readonly post: Post; readonly model: string },
  { body, usageOf, headers }: PassedRequest,
  { attempt, redact, meter, ...options }: Passing,
): Promise<void> {
  const response = await call(post, JSON.stringify({ ...body, model }), {
    signal: attempt.signal,
    headers: { ...options.headers, ...headers },
  });
  const usage = createUsageReader(usageOf, meter, isJson(response));
  const pieces = redact.inPieces();
  await readBody(response.body, (text) => {
    usage.add(text);
    return attempt.sendBytes(pieces.add(text));
  });
  usage.end();
  await attempt.sendBytes(pieces.end());
}

/** @throws APICallError if the service cannot be reached or rejects the request */
async function call(post: Post, ...given: Parameters<Post>): Promise<Response> {
  const about = { url: "", requestBodyValues: {} };
  const response = await post(...given).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
    const { message } = error.cause instanceof Error ? error.cause : error;
    const words = { message: `Cannot connect to API: ${message}`, cause: error };
    throw new APICallError({ ...about, ...words, isRetryable: true });
  });
  if (response.ok) return response;
  const data = parsed(await readText(response.body)) as ErrorBody;
  const message = data?.error?.message;
  throw new APICallError({
    ...about,
    message: typeof message === "string" ? message : response.statusText,
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    data,
  });
}

type ErrorBody = { readonly error?: { readonly message?: unknown } | null } | null | undefined;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An event is about a token; a token is about four characters. */
const CHARACTERS_PER_EVENT = 4;

/** Reads the usage in a body of JSON, or in the events with one. */
function createUsageReader(usageOf: PassedRequest["usageOf"], meter: TokenMeter, isWhole: boolean) {
  let rest = "";
  const read = (text: string) => {
    const usage = usageOf(parsed(text));
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
    end: () => isWhole && read(rest),
  };
}
