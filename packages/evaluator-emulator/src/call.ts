import type { Context } from "hono";
import { isJsonRecord } from "./json.ts";

/**
 * How a response leaves: whole; half of its body and then the end (`cut`) or a broken connection
 * (`reset`); or, without a response, no answer ever (`hang`) or a broken connection (`reset`).
 */
export interface Delivery {
  ending: "whole" | "cut" | "reset" | "hang";
  hasResponse: boolean;
}

/** What the log-probabilities of a chat server may be instead of what was asked for. */
export const trapKinds = [
  "filler",
  "probability-as-logprob",
  "no-logprobs",
  "low-label-mass",
  "short-list",
  "thinking-first",
] as const;
/** One of {@link trapKinds}. */
export type Trap = (typeof trapKinds)[number];

/** What comes in beside a request: how its response is to leave, which the faults may change. */
export interface CallEnvironment {
  Bindings: { readonly delivery: Delivery };
  /** The trap that a chat server is to set, if any. */
  Variables: { trap?: Trap };
}

/** One request, the same whether it came over HTTP or through `fetch`. */
export type Call = Context<CallEnvironment>;

/** Largest request body, in bytes; an image of 16 MiB is 22 MiB of base64. */
const maxBodyBytes = 32 * 1024 * 1024;
/** Deepest nesting of a body; deeper ones would overflow the stack of whoever walks them. */
const maxDepth = 100;

const texts = new WeakMap<Request, Promise<string>>();

/** Returns the key of an authorization header `Bearer <key>`, or null. */
export function bearerKey({ req }: Call): string | null {
  return /^Bearer (\S+)$/i.exec(req.header("authorization") ?? "")?.[1] ?? null;
}

/**
 * Reads the body as text; a second read gives the same.
 *
 * @throws {UnreadableBody} when it is too large or ends early.
 */
export async function readText({ req }: Call): Promise<string> {
  const known = texts.get(req.raw);
  if (known !== undefined) return await known;
  const text = collectText(req.raw);
  texts.set(req.raw, text);
  return await text;
}

/**
 * Reads the JSON body of a call.
 *
 * @throws {UnreadableBody} when it is too large, not JSON, or nested too deeply.
 */
export async function readJson(call: Call): Promise<unknown> {
  const body = parseJson(await readText(call));
  if (depthOf(body) <= maxDepth) return body;
  throw new UnreadableBody(`The body is nested deeper than ${maxDepth} levels.`);
}

/** A request body that cannot be read; the message never repeats it. */
export class UnreadableBody extends Error {
  override readonly name = "UnreadableBody";
  /** 413 when it is too large, else 400. */
  readonly status: 400 | 413;

  constructor(message: string, status: 400 | 413 = 400) {
    super(message);
    this.status = status;
  }
}

async function collectText({ body }: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Read to its end also when it is too large: a caller that still sends would miss the answer.
  for await (const chunk of endOf(body)) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  if (size <= maxBodyBytes) return Buffer.concat(chunks).toString("utf8");
  throw new UnreadableBody(`The body is larger than ${maxBodyBytes} bytes.`, 413);
}

async function* endOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch {
    throw new UnreadableBody("The body ended early.");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableBody("The body is not valid JSON.");
  }
}

function depthOf(body: unknown): number {
  let depth = 0;
  let level: unknown[] = [body];
  while (depth <= maxDepth) {
    const containers = level.filter((value) => Array.isArray(value) || isJsonRecord(value));
    if (containers.length === 0) break;
    depth += 1;
    level = containers.flatMap((container) => Object.values(container));
  }
  return depth;
}
