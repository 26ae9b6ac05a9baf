import type { Context } from "hono";

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
/** Deepest nesting of a body; far deeper ones would overflow the stack of whoever walks them. Chosen. */
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
export async function readText(call: Call): Promise<string> {
  const { raw } = call.req;
  const known = texts.get(raw);
  if (known !== undefined) return await known;
  const text = readBytes(call).then((bytes) => bytes.toString("utf8"));
  texts.set(raw, text);
  return await text;
}

/**
 * Reads the JSON body of a call.
 *
 * @throws {UnreadableBody} when it is too large, not JSON, or nested too deeply.
 */
export async function readJson(call: Call): Promise<unknown> {
  const body = parseJson(await readText(call));
  if (isWithinDepth(body, maxDepth)) return body;
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

async function readBytes(call: Call): Promise<Buffer> {
  const bytes = await (isBounded(call) ? readWhole(call) : readChunks(call)).catch(() => {
    throw new UnreadableBody("The body ended early.");
  });
  if (bytes !== null && bytes.length <= maxBodyBytes) return bytes;
  throw new UnreadableBody(`The body is larger than ${maxBodyBytes} bytes.`, 413);
}

/** Returns whether a body says that it is within the limit; over HTTP one in chunks does not. */
function isBounded({ req }: Call): boolean {
  if (req.header("transfer-encoding") !== undefined) return false;
  return Number(req.header("content-length") ?? 0) <= maxBodyBytes;
}

// Spares the streams of the web, which take longer than the judge.
async function readWhole({ req }: Call): Promise<Buffer> {
  return Buffer.from(await req.raw.arrayBuffer());
}

/** Reads a body as it comes; null when it is over the limit. */
async function readChunks({ req }: Call): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Read to its end also when it is too large: a caller that still sends would miss the answer.
  for await (const chunk of req.raw.body ?? []) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  return size <= maxBodyBytes ? Buffer.concat(chunks) : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableBody("The body is not valid JSON.");
  }
}

function isWithinDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  for (const nested of Object.values(value)) {
    if (!isWithinDepth(nested, levels - 1)) return false;
  }
  return true;
}
