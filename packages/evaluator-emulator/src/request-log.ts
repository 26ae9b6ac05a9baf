import type { MiddlewareHandler } from "hono";
import type { AccountBook } from "./accounts.ts";
import { bearerKey, type Call, type CallEnvironment } from "./call.ts";

/** One request as the log keeps it: no key, no header value beyond the model id, no body. */
export interface LoggedRequest {
  /** Counts from 1. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly startTime: number;
  readonly method: string;
  readonly path: string;
  /** The model the caller's header asks for, or null. */
  readonly model: string | null;
  /** The number of the key's account, in the order accounts were opened, or null. */
  readonly account: number | null;
  /** Null while unanswered, and for a call that gets no response. */
  status: number | null;
  /** What the emulator's own header said, such as `basis=lexical`, or null. */
  note: string | null;
  /** How the response ended on the wire, or null while unanswered. */
  ending: string | null;
}

/** The latest requests, oldest first. */
export type RequestLog = ReturnType<typeof createRequestLog>;

/**
 * Makes an empty log of requests.
 *
 * @param capacity - How many requests are kept; the oldest are forgotten first.
 */
export function createRequestLog(capacity = 1000) {
  let entries: LoggedRequest[] = [];
  let count = 0;
  return {
    /** Adds a request; the caller completes the entry. */
    add(request: Omit<LoggedRequest, "number" | "status" | "note" | "ending">): LoggedRequest {
      count += 1;
      const entry = { ...request, number: count, status: null, note: null, ending: null };
      entries.push(entry);
      if (entries.length > 2 * capacity) entries = entries.slice(-capacity);
      return entry;
    },
    list: () => entries.slice(-capacity),
    reset() {
      entries = [];
      count = 0;
    },
  };
}

/** Returns middleware that logs every call before it is answered, and what became of it after. */
export function logRequests(
  log: RequestLog,
  { accounts, clock }: { readonly accounts: AccountBook; readonly clock: () => number },
): MiddlewareHandler<CallEnvironment> {
  return async (call, next) => {
    const { method, path } = call.req;
    const account = accountOf(call, accounts);
    const entry = log.add({ startTime: clock(), method, path, model: modelOf(call), account });
    await next();
    const { ending, hasResponse } = call.env.delivery;
    entry.status = hasResponse ? call.res.status : null;
    entry.note = call.res.headers.get("x-evaluator-emulator");
    entry.ending = ending;
  };
}

function accountOf(call: Call, accounts: AccountBook): number | null {
  const key = bearerKey(call);
  return key === null ? null : (accounts.find(key)?.number ?? null);
}

function modelOf({ req }: Call): string | null {
  return req.header("ai-model-id") ?? req.header("ai-language-model-id") ?? null;
}
