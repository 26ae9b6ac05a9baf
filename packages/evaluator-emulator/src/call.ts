import type { Context } from "hono";
import type { createAccountBook } from "./accounts.ts";
import type { Judgement } from "./answers/judgement.ts";
import type { createLedger } from "./ledger.ts";
import type { EvaluationInput } from "./questions/evaluation-input.ts";
import type { createVendorGate } from "./vendor-limits.ts";

/** How a response is sent. */
export interface Delivery {
  /** Half of the body and then its end (`cut`) or a reset connection (`reset`); or no answer (`hang`). */
  ending: "whole" | "cut" | "reset" | "hang";
  hasResponse: boolean;
}

/** The changes of a chat server's log-probabilities. */
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

/** The delivery of a request, which faults may change, and the trap that a chat server sets. */
export interface CallEnvironment {
  Bindings: { readonly delivery: Delivery };
  Variables: { trap?: Trap };
}

/** One request, the same over HTTP and through `fetch`. */
export type Call = Context<CallEnvironment>;

/** The parts that the routes of all sides work with. */
export interface EmulatorContext {
  readonly accounts: ReturnType<typeof createAccountBook>;
  /** The answered calls of the gateway. */
  readonly ledger: ReturnType<typeof createLedger>;
  /** The vendor's limits; null without limits. */
  readonly vendorGate: ReturnType<typeof createVendorGate> | null;
  /** Answers one evaluation. */
  readonly answer: (input: EvaluationInput) => Judgement;
  /** The time in epoch milliseconds. */
  readonly clock: () => number;
  /** Returns a new id of 26 letters and digits. */
  readonly nextId: () => string;
}

/** A request that cannot be answered; each side gives it its own form. The message never quotes the body. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** The message of an error that no side expects. */
export const defectMessage = "The emulator failed; this is a defect of the emulator.";

/** Largest request body, in bytes; an image of 16 MiB is 22 MiB of base64. */
const maxBodyBytes = 32 * 1024 * 1024;
/** Deepest nesting of a body; a recursive reader would overflow its stack far below. Chosen. */
const maxDepth = 100;

const texts = new WeakMap<Request, Promise<string>>();

/** Returns the key of an authorization header `Bearer <key>`, or null. */
export function bearerKey({ req }: Call): string | null {
  return /^Bearer (\S+)$/i.exec(req.header("authorization") ?? "")?.[1] ?? null;
}

/** Reads the body as text, once for all readers. @throws {RequestError} if it is too large or ends early. */
export async function readText(call: Call): Promise<string> {
  const { raw } = call.req;
  const known = texts.get(raw);
  if (known !== undefined) return await known;
  const text = readBytes(call).then((bytes) => bytes.toString("utf8"));
  texts.set(raw, text);
  return await text;
}

/** Reads the JSON body. @throws {RequestError} if it cannot be read or is nested too deeply. */
export async function readJson(call: Call): Promise<unknown> {
  const body = parseJson(await readText(call));
  if (isWithinDepth(body, maxDepth)) return body;
  throw new RequestError(`The body is nested deeper than ${maxDepth} levels.`);
}

async function readBytes(call: Call): Promise<Buffer> {
  const bytes = await readChunks(call).catch(() => {
    throw new RequestError("The body ended early.");
  });
  if (bytes !== null && bytes.length <= maxBodyBytes) return bytes;
  throw new RequestError(`The body is larger than ${maxBodyBytes} bytes.`, 413);
}

/** Returns null if the body is over the limit. */
async function readChunks({ req }: Call): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Read a body that is too large to its end as well: a caller that still sends would miss the answer.
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
    throw new RequestError("The body is not valid JSON.");
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
