import { Hono, type MiddlewareHandler } from "hono";
import { z } from "zod";
import {
  bearerKey,
  type Call,
  type CallEnvironment,
  type EmulatorContext,
  readJson,
} from "./call.ts";
import { toDollarString } from "./catalog.ts";
import type { createFaultBook } from "./faults/fault-book.ts";
import { checkFaults } from "./faults/fault.ts";
import { errorHandler, RequestError } from "./request-error.ts";

type Accounts = EmulatorContext["accounts"];

/** Makes an empty log of the latest requests, oldest first: no key, body, query, or header but the model. */
export function createRequestLog(accounts: Accounts, clock: () => number, capacity = 1000) {
  let entries: { readonly number: number }[] = [];
  let count = 0;
  const middleware: MiddlewareHandler<CallEnvironment> = async (call, next) => {
    const { req } = call;
    const entry = {
      number: (count += 1),
      method: req.method,
      path: req.path,
      model: req.header("ai-model-id") ?? req.header("ai-language-model-id") ?? null,
      account: accounts.find(bearerKey(call))?.number ?? null,
      /** Null while unanswered, and for a call without a response. */
      status: null as number | null,
      /** The emulator's own header, such as `basis=lexical`. */
      note: null as string | null,
      /** How the response ended on the wire; null while unanswered. */
      ending: null as string | null,
      startedAt: new Date(clock()).toISOString(),
    };
    entries.push(entry);
    if (entries.length > 2 * capacity) entries = entries.slice(-capacity);
    await next();
    const { ending, hasResponse } = call.env.delivery;
    entry.status = hasResponse ? call.res.status : null;
    entry.note = call.res.headers.get("x-evaluator-emulator");
    entry.ending = ending;
  };
  return {
    /** Logs every call before it is answered, and completes its entry after. */
    middleware,
    list: () => entries.slice(-capacity),
    reset() {
      entries = [];
      count = 0;
    },
  };
}

interface ControlContext {
  readonly accounts: Accounts;
  readonly faults: ReturnType<typeof createFaultBook>;
  readonly requests: ReturnType<typeof createRequestLog>;
  readonly reset: () => void;
}

/** Returns the emulator's own routes under `/_emulator/`, which are neither logged nor spoilt. */
export function controlRoutes({ accounts, faults, requests, reset }: ControlContext) {
  const app = new Hono<CallEnvironment>().basePath("/_emulator");
  const faultList = () => Response.json({ faults: faults.list() });
  app.use(async (call, next) => {
    if (!isForeignPage(call)) return await next();
    return errorResponse("Pages of other origins may not control the emulator.", 403, "forbidden");
  });
  app.post("/top-up", (call) => topUp(call, accounts));
  app.post("/reset", () => {
    reset();
    return Response.json({});
  });
  app.get("/requests", () => Response.json({ requests: requests.list() }));
  app.get("/faults", faultList);
  app.post("/faults", async (call) => {
    const body = await readJson(call);
    faults.add(checkFaults(Array.isArray(body) ? body : [body]));
    return faultList();
  });
  app.delete("/faults", () => {
    faults.clear();
    return faultList();
  });
  app.all("/*", () => errorResponse("The emulator has no such address.", 404));
  const onError = errorHandler(errorResponse);
  app.onError((error) =>
    error instanceof RangeError ? errorResponse(error.message, 400) : onError(error),
  );
  return app;
}

function errorResponse(message: string, status: number, type = "invalid_request_error"): Response {
  return Response.json({ error: { message, type } }, { status });
}

function isForeignPage({ req }: Call): boolean {
  const origin = req.header("origin");
  const host = req.header("host");
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}

const bodySchema = z.strictObject({
  key: z.string().min(1).optional(),
  amount: z.number().min(0.01).max(1000),
});

/** Adds US dollars to the account of a key or to every account; either is then paid (contract section 3). */
async function topUp(call: Call, accounts: Accounts): Promise<Response> {
  const { data } = bodySchema.safeParse(await readJson(call));
  if (data === undefined) {
    throw new RequestError("Expected { key?, amount }, the amount from 0.01 to 1000 US dollars.");
  }
  if (data.key === undefined) {
    accounts.topUpAll(data.amount);
    return Response.json({ tier: "paid" });
  }
  const account = accounts.find(data.key);
  if (account === null) throw new RequestError("The emulator does not accept this key.");
  account.topUp(data.amount);
  return Response.json({ tier: account.tier, balance: toDollarString(account.balance) });
}
