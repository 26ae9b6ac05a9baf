import type { Context } from "hono";
import type { createAccountBook } from "./accounts.ts";
import type { Judgement } from "./answers/judgement.ts";
import type { createLedger } from "./ledger.ts";
import { RequestError } from "./request-error.ts";
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

/** The delivery of a request and the trap of a chat server, which faults may set, and the body. */
export interface CallEnvironment {
  Bindings: { readonly delivery: Delivery };
  Variables: { trap?: Trap; text?: Promise<string> };
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

/** Largest request body, in bytes; an image of 16 MiB is 22 MiB of base64. */
const maxBodyBytes = 32 * 1024 * 1024;
/** Deepest nesting of a body; a recursive reader would overflow its stack far below. Chosen. */
const maxDepth = 100;

/** Returns the key of an authorization header `Bearer <key>`, or null. */
export function bearerKey({ req }: Call): string | null {
  return /^Bearer (\S+)$/i.exec(req.header("authorization") ?? "")?.[1] ?? null;
}

/** Reads the body as text, once for all readers. @throws {RequestError} if it is too large or ends early. */
export function readText(call: Call): Promise<string> {
  const text = call.get("text") ?? readBody(call);
  call.set("text", text);
  return text;
}

/** Reads the JSON body. @throws {RequestError} if it cannot be read or is nested too deeply. */
export async function readJson(call: Call): Promise<unknown> {
  const body = parseJson(await readText(call));
  if (isWithinDepth(body, maxDepth)) return body;
  throw new RequestError(`The body is nested deeper than ${maxDepth} levels.`);
}

async function readBody({ req }: Call): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Read a body that is too large to its end as well: a caller that still sends would miss the answer.
    for await (const chunk of req.raw.body ?? []) {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
    }
  } catch {
    throw new RequestError("The body ended early.");
  }
  if (size <= maxBodyBytes) return Buffer.concat(chunks).toString("utf8");
  throw new RequestError(`The body is larger than ${maxBodyBytes} bytes.`, 413);
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
  return levels > 0 && Object.values(value).every((nested) => isWithinDepth(nested, levels - 1));
}
