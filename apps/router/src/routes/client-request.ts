import type { ServerResponse } from "node:http";
import { cutText } from "evaluator-client";
import type { Context, HonoRequest, MiddlewareHandler } from "hono";
import type { Decision } from "../decision/decision.ts";
import type { Call } from "../message-router.ts";
import type { TraceHeaders, Tracing } from "../services/tracing.ts";
import { HttpError } from "../http-error.ts";

/** The context's variables in every route. */
export interface ClientEnv {
  Variables: {
    /** Aborts when the client disconnects. */
    clientSignal: AbortSignal;
    reportDefect: (error: Error) => void;
    /** The client's own id of the request if it is harmless, else a new one. */
    requestId: string;
    /** The slot among the calls in flight; a stream sets `isHeld` and releases it. */
    slot: { isHeld: boolean; readonly release: () => void };
  };
}

/** Returns a request's call of an endpoint. */
export function callOf(
  { req, var: { requestId, clientSignal } }: Context<ClientEnv>,
  endpoint: Call["endpoint"],
): Call {
  return { requestId, endpoint, signal: clientSignal, trace: traceOf(req) };
}

/** Sets the headers of an answer that describe its decision. */
export function setDecisionHeaders(c: Context, decision: Decision): void {
  c.header("x-router-tier", decision.tierUsed ?? "none");
  c.header("x-router-tier-chosen", decision.tierChosen ?? "none");
  c.header("x-router-model", decision.model);
  c.header("x-router-cause", decision.cause);
  c.header("x-router-decision-ms", String(decision.decisionMs));
}

/** The caller's valid W3C trace, if any. */
function traceOf(request: HonoRequest): TraceHeaders {
  const traceparent = request.header("traceparent") ?? "";
  if (!/^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent)) return {};
  const tracestate = request.header("tracestate") ?? "";
  return /^[\x20-\x7e]{1,512}$/.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}

/** Runs a request as a span; a stream's span ends at its start, since its reply has its own. */
export function traced(tracing: Tracing): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const ids = { requestId: c.var.requestId, trace: traceOf(c.req) };
    await tracing.request(c.req, ids, async () => {
      await next();
      return c.res.status;
    });
  };
}

/** The longest message in characters: Unicode code points (contract section 8). */
const MAX_MESSAGE_LENGTH = 20_000;

/** Cuts a message to 20,000 characters, or slightly less so that no character is split. */
export function cutMessage(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  let units = 0; // UTF-16 code units
  for (let count = 0; count < MAX_MESSAGE_LENGTH && units < message.length; count += 1) {
    units += (message.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return cutText(message, units);
}

/** Reads a JSON body. @throws HttpError with status 400 for invalid JSON. */
export async function readJson(request: HonoRequest): Promise<unknown> {
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, "The body is not JSON.");
  }
}

/** Sends one server-sent event, and waits for a slow client. */
type SendEvent = (data: unknown, event?: string) => Promise<void> | undefined;

/** Answers with server-sent events, and keeps the call's slot until the last one. */
export function sendEvents(
  c: Context<ClientEnv>,
  run: (send: SendEvent) => Promise<void>,
  failure: Parameters<SendEvent>,
): Response {
  const { slot, clientSignal, reportDefect } = c.var;
  const { outgoing } = (c.env ?? {}) as { readonly outgoing?: ServerResponse };
  const { body, send, end } = createEventBody(outgoing);
  slot.isHeld = true;
  void (async () => {
    try {
      await run(send);
    } catch (error) {
      if (clientSignal.aborted) return;
      reportDefect(error instanceof Error ? error : new Error("Not an error was thrown."));
      await send(...failure);
    } finally {
      slot.release();
      end();
    }
  })();
  return c.body(body, 200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "Transfer-Encoding": "chunked", // otherwise the server buffers the first events to measure them
    "X-Accel-Buffering": "no", // otherwise a proxy buffers them
  });
}

/**
 * While the connection waits for more, an event is written past the stream, which would cost a fifth
 * more (benchmark `stream`).
 */
function createEventBody(connection: ServerResponse | undefined) {
  let isOpen = true;
  let isAwaited = false;
  let room = Promise.withResolvers<void>();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (started) => void (controller = started),
      pull() {
        isAwaited = true; // all earlier events are written
        room.resolve();
      },
      cancel() {
        isOpen = false;
        room.resolve();
      },
    },
    { highWaterMark: 0 }, // otherwise it would be pulled before it is read
  );
  const send: SendEvent = (data, event) => {
    if (!isOpen) return undefined;
    const json = typeof data === "string" ? data : JSON.stringify(data);
    const text = `${event === undefined ? "" : `event: ${event}\n`}data: ${json}\n\n`;
    if (isAwaited && connection !== undefined) {
      if (connection.write(text)) return undefined;
      room = Promise.withResolvers();
      connection.once("drain", room.resolve);
      return room.promise;
    }
    isAwaited = false;
    room = Promise.withResolvers();
    controller.enqueue(Buffer.from(text));
    return room.promise;
  };
  const end = () => {
    if (isOpen) controller.close();
    isOpen = false;
  };
  return { body, send, end };
}
