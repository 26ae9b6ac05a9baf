import { cutText } from "evaluator-client";
import type { TextSink } from "evaluator-kit";
import type { Context, HonoRequest, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { z } from "zod";
import { HttpError } from "../http-error.ts";
import type { Call } from "../message-router.ts";
import type { Metrics } from "../metrics.ts";
import type { Endpoint } from "../records/message-record.ts";
import type { TraceHeaders, Tracing } from "../services/services.ts";

/** A slot among the calls in flight. */
export interface Slot {
  /** Keeps the slot beyond the handler's end, for a stream that goes on. */
  readonly hold: () => void;
  /** Returns whether somebody holds it and will release it. */
  readonly isHeld: () => boolean;
  readonly release: () => void;
}

/** What routes find in the context. */
export interface ClientEnv {
  Variables: {
    /** Aborts when the client goes away. */
    clientSignal: AbortSignal;
    /** The client's own id of the request where it sent a harmless one, else a new one. */
    requestId: string;
    /** The slot among the calls in flight, on routes that ask a model. */
    slot: Slot;
  };
}

/** Returns the call that a request makes at an endpoint. */
export function callOf(
  { req, var: { requestId, clientSignal } }: Context<ClientEnv>,
  endpoint: Endpoint,
): Call {
  return { requestId, endpoint, signal: clientSignal, trace: traceOf(req) };
}

/** The caller's trace, where it names one in W3C's form. */
function traceOf(request: HonoRequest): TraceHeaders {
  const traceparent = request.header("traceparent") ?? "";
  if (!/^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent)) return {};
  const tracestate = request.header("tracestate") ?? "";
  return /^[\x20-\x7e]{1,512}$/.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}

/** Runs a request as a span; a stream's ends at its start, as its reply has one of its own. */
export function traced(tracing: Tracing): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const { method, path } = c.req;
    const { requestId } = c.var;
    await tracing.request({ method, path, requestId, trace: traceOf(c.req) }, async () => {
      await next();
      return c.res.status;
    });
  };
}

/** Where each response is logged. */
export interface AccessLog {
  readonly metrics: Metrics;
  /** Where the lines go; null to print none. */
  readonly output: TextSink | null;
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Logs every response: time, method, route, status, milliseconds and request id. The route is
 * the router's own word, as an address may hold a person's text; a stream's time ends at its start.
 */
export function accessLog({ metrics, output }: AccessLog): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    const route = routePath(c, -1);
    const { method } = c.req;
    const { status } = c.res;
    metrics.countResponse({ method: knownMethods.has(method) ? method : "other", route, status });
    const ms = Math.round(performance.now() - startedAt);
    output?.write(
      `${new Date().toISOString()} ${method} ${route} ${status} ${ms}ms ${c.var.requestId}\n`,
    );
  };
}

/** The longest message that is read, in characters: Unicode code points (contract section 8). */
export const MAX_MESSAGE_LENGTH = 20_000;

const messageSchema = z.object({ message: z.string().regex(/\S/) });

/**
 * Reads `{ message }`, cut to its limit (contract section 4.6, rule 1).
 *
 * @throws HttpError with status 400 when there is no text.
 */
export async function readMessage(request: HonoRequest): Promise<string> {
  const { data } = messageSchema.safeParse(await readJson(request));
  if (data) return cutMessage(data.message);
  throw new HttpError(400, 'Send { "message": "…" }; the text is not blank.');
}

/** Returns a message cut to {@link MAX_MESSAGE_LENGTH}, or a little less where a character would be split. */
export function cutMessage(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  return cutText(message, unitsOf(message, MAX_MESSAGE_LENGTH));
}

/** How many UTF-16 code units so many characters from the start take; all of a shorter text. */
function unitsOf(text: string, characters: number): number {
  let units = 0;
  for (let count = 0; count < characters && units < text.length; count += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return units;
}

/**
 * Reads a body that must be JSON.
 *
 * @throws HttpError with status 400 when it is not.
 */
export async function readJson(request: HonoRequest): Promise<unknown> {
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, "The body is not JSON.");
  }
}
