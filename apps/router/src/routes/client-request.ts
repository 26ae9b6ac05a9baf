import type { Context, HonoRequest, MiddlewareHandler } from "hono";
import type { Decision } from "../decision/decision.ts";
import type { CallBudget } from "../keys/call-budget.ts";
import type { RouterKey } from "../keys/router-key.ts";
import type { Call } from "../message-router.ts";
import type { TraceHeaders, Tracing } from "../services/tracing.ts";

/** The context's variables in every route. */
export interface ClientEnv {
  Variables: {
    /** Aborts when the client disconnects. */
    clientSignal: AbortSignal;
    /** The key of the client; null if the router asks for none. */
    key: RouterKey | null;
    /** The call's part of its key's budget; null without a limit in US dollars. */
    budget: CallBudget | null;
    reportDefect: (error: Error) => void;
    /** The client's own id of the request if it is harmless, else a new one. */
    requestId: string;
    /** The slot among the calls in flight; a stream sets `isHeld` and releases it. */
    slot: { isHeld: boolean; readonly release: () => void };
  };
}

/** Returns a request's call of an endpoint. */
export function toCall(
  { req, var: { requestId, clientSignal, key, budget } }: Context<ClientEnv>,
  endpoint: string,
): Call {
  return { requestId, endpoint, key, budget, signal: clientSignal, trace: toTrace(req) };
}

/** The headers of keys of Anthropic's, Azure's and Google's clients, beside `authorization`. */
export const keyHeaders = ["x-api-key", "api-key", "x-goog-api-key"];

/** Returns the key that a client sent, or an empty text. */
export function toCaller({ req }: Context<ClientEnv>): string {
  return [...keyHeaders, "authorization"].flatMap((name) => req.header(name) ?? [])[0] ?? "";
}

/** Sets the headers of an answer that describe its decision. */
export function setDecisionHeaders(c: Context, decision: Decision): void {
  c.header("x-router-tier", decision.tierUsed ?? "none");
  c.header("x-router-tier-chosen", decision.tierChosen ?? "none");
  c.header("x-router-model", decision.model);
  c.header("x-router-cause", decision.cause);
  c.header("x-router-decision-ms", String(decision.decisionMs));
}

/** Adds fields of the request that have no effect to the answer's header. */
export function addIgnored(c: Context, fieldNames: readonly string[]): void {
  if (fieldNames.length > 0) c.header("x-router-ignored", fieldNames.join(", "), { append: true });
}

/** The caller's valid W3C trace, if any. */
function toTrace(request: HonoRequest): TraceHeaders {
  const traceparent = request.header("traceparent") ?? "";
  if (!/^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent)) return {};
  const tracestate = request.header("tracestate") ?? "";
  return /^[\x20-\x7e]{1,512}$/.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}

/** Runs a request as a span; a stream's span ends at its start, since its reply has its own. */
export function traced(tracing: Tracing): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const traceIds = { requestId: c.var.requestId, trace: toTrace(c.req) };
    await tracing.request(c.req, traceIds, async () => {
      await next();
      return c.res.status;
    });
  };
}
