import * as z from "zod/mini";
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

/** Unpacks a body by its `Content-Encoding`, up to a size in bytes. @throws {RequestError} */
export type Unpack = (
  packedBytes: ArrayBuffer,
  encoding: string,
  most: number,
) => Promise<ArrayBuffer>;

/** One request, the same over HTTP and through `fetch`. */
export class Call {
  readonly request: Request;
  readonly delivery: Delivery;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Set by a fault. */
  trap: Trap | null = null;
  readonly #unpack: Unpack;
  #bytes: Promise<ArrayBuffer> | null = null;

  constructor(
    request: Request,
    delivery: Delivery,
    unpack: Unpack = async (packedBytes) => packedBytes,
  ) {
    this.#unpack = unpack;
    const { pathname, searchParams } = new URL(request.url);
    this.request = request;
    this.delivery = delivery;
    this.path = pathname;
    this.query = Object.fromEntries(searchParams);
  }

  header(headerName: string): string | null {
    return this.request.headers.get(headerName);
  }

  /** Reads the body, once for all readers. @throws {RequestError} if it is too large or ends early. */
  bytes(): Promise<ArrayBuffer> {
    return (this.#bytes ??= readBody(this.request, this.#unpack));
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }
}

/** Answers a call, or returns null if its address is another side's. */
export type Side = (emulatedCall: Call) => Promise<Response | null>;

/** The routes of a side by method and path, such as `GET /v1/models`. */
export type Routes = Readonly<Record<string, (emulatedCall: Call) => Response | Promise<Response>>>;

/** Answers a call by its route, for HEAD by that of GET; null if there is none. */
export async function answerBy(routes: Routes, emulatedCall: Call): Promise<Response | null> {
  const { method } = emulatedCall.request;
  const routeKey = `${method === "HEAD" ? "GET" : method} ${emulatedCall.path}`;
  return Object.hasOwn(routes, routeKey)
    ? ((await routes[routeKey]?.(emulatedCall)) ?? null)
    : null;
}

/** Answers errors in a side's own form; any error but a `RequestError` is a defect. */
export function withErrors<TAnswer>(
  answer: (emulatedCall: Call) => Promise<TAnswer>,
  toResponse: (message: string, statusCode: number) => Response,
) {
  return (emulatedCall: Call): Promise<TAnswer | Response> =>
    answer(emulatedCall).catch((error: unknown) => {
      if (error instanceof RequestError) {
        return error.response ?? toResponse(error.message, error.status);
      }
      return toResponse("The emulator failed; this is a defect of the emulator.", 500);
    });
}

/** The parts that the routes of all sides work with. */
export interface EmulatorContext {
  readonly accounts: ReturnType<typeof createAccountBook>;
  /** The answered calls of the gateway. */
  readonly ledger: ReturnType<typeof createLedger>;
  /** The vendor's limits; null without limits. */
  readonly vendorGate: ReturnType<typeof createVendorGate> | null;
  /**
   * Answers one evaluation.
   *
   * @param decimals - Decimal places of the service that is played. @default 2
   */
  readonly answer: (evaluationInput: EvaluationInput, decimals?: number) => Judgement;
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
export function bearerKey(emulatedCall: Call): string | null {
  return /^Bearer (\S+)$/i.exec(emulatedCall.header("authorization") ?? "")?.[1] ?? null;
}

/** Returns the key of a call to any service; Google's is in `x-goog-api-key`. */
export function callKey(emulatedCall: Call): string | null {
  return bearerKey(emulatedCall) ?? emulatedCall.header("x-goog-api-key");
}

/** Reads the JSON body. @throws {RequestError} if it cannot be read or is nested too deeply. */
export async function readJson(call: Pick<Call, "text">): Promise<unknown> {
  const parsedBody = parseJson(await call.text());
  if (isWithinDepth(parsedBody, maxDepth)) return parsedBody;
  throw new RequestError(`The body is nested deeper than ${maxDepth} levels.`);
}

/** Returns a body that fits. @throws {RequestError} names the first field at fault, never its value. */
export function parseBody<TBody>(schema: z.core.$ZodType<TBody>, requestBody: unknown): TBody {
  const { data, error } = z.safeParse(schema, requestBody);
  if (error === undefined) return data;
  const [issue] = error.issues;
  const fieldPath = ["body", ...(issue?.path ?? [])].map(String).join(".");
  throw new RequestError(`Invalid request: ${fieldPath}: ${issue?.message}`);
}

async function readBody(request: Request, unpack: Unpack): Promise<ArrayBuffer> {
  const packedBytes = await request.arrayBuffer().catch(() => {
    throw new RequestError("The body ended early.");
  });
  if (packedBytes.byteLength > maxBodyBytes) {
    throw new RequestError(`The body is larger than ${maxBodyBytes} bytes.`, 413);
  }
  const contentEncoding = request.headers.get("content-encoding");
  return contentEncoding === null
    ? packedBytes
    : unpack(packedBytes, contentEncoding, maxBodyBytes);
}

function parseJson(bodyText: string): unknown {
  try {
    return JSON.parse(bodyText);
  } catch {
    throw new RequestError("The body is not valid JSON.");
  }
}

function isWithinDepth(nestedBody: unknown, remainingLevels: number): boolean {
  if (typeof nestedBody !== "object" || nestedBody === null) return true;
  return (
    remainingLevels > 0 &&
    Object.values(nestedBody).every((nestedValue) =>
      isWithinDepth(nestedValue, remainingLevels - 1),
    )
  );
}

/** Returns whether a path is the vendor's: all under `/direct`, and its evaluation at the root. */
export function isVendorPath(requestPath: string): boolean {
  return requestPath.startsWith("/direct/") || requestPath === "/v1/systemone";
}
