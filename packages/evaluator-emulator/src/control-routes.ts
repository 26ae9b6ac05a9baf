import { Hono } from "hono";
import { z } from "zod";
import { type AccountBook, topUpAccount } from "./accounts.ts";
import { type Call, type CallEnvironment, readJson, UnreadableBody } from "./call.ts";
import { toDollarString } from "./catalog/price.ts";
import type { FaultBook } from "./faults/fault-book.ts";
import { checkFaults } from "./faults/fault.ts";
import type { LoggedRequest, RequestLog } from "./request-log.ts";

/** What the control routes work on. */
export interface ControlContext {
  readonly accounts: AccountBook;
  readonly faults: FaultBook;
  readonly requests: RequestLog;
  readonly reset: () => void;
}

/**
 * Returns the routes that exist only here, under `/_emulator/`; no fault and no log touches them.
 */
export function controlRoutes(context: ControlContext): Hono<CallEnvironment> {
  const { accounts, faults, requests, reset } = context;
  const app = new Hono<CallEnvironment>().basePath("/_emulator");
  const faultList = () => Response.json({ faults: faults.list() });
  app.use(async (call, next) => (isForeignPage(call) ? rejectForeignPage() : await next()));
  app.post("/top-up", (call) => topUp(call, accounts));
  app.post("/reset", () => {
    reset();
    return Response.json({});
  });
  const requestList = () => Response.json({ requests: requests.list().map(toEntry) });
  app.get("/requests", requestList);
  app.get("/journal", requestList); // its name until it was called requests
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
  app.onError(toErrorResponse);
  return app;
}

function toErrorResponse(error: Error): Response {
  if (error instanceof UnreadableBody) return errorResponse(error.message, error.status);
  if (error instanceof RangeError) return errorResponse(error.message, 400);
  return errorResponse("The emulator failed; this is a defect of the emulator.", 500);
}

function errorResponse(message: string, status: number): Response {
  return Response.json({ error: { message, type: "invalid_request_error" } }, { status });
}

function toEntry({ startTime, ...request }: LoggedRequest) {
  return { ...request, startedAt: new Date(startTime).toISOString() };
}

function isForeignPage({ req }: Call): boolean {
  const origin = req.header("origin");
  const host = req.header("host");
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}

function rejectForeignPage(): Response {
  const message = "Pages of other origins may not control the emulator.";
  return Response.json({ error: { message, type: "forbidden" } }, { status: 403 });
}

const bodySchema = z.strictObject({
  key: z.string().min(1).optional(),
  amount: z.number().min(0.01).max(1000),
});

/**
 * Buys credits, `amount` in US dollars, for the account of a key or, without one, for every
 * account; either is on the paid tier from its next call (contract section 3).
 *
 * @throws {RangeError} when the body is something else, or the key is not accepted.
 */
async function topUp(call: Call, accounts: AccountBook): Promise<Response> {
  const { data } = bodySchema.safeParse(await readJson(call));
  if (data === undefined) {
    throw new RangeError("Expected { key?, amount }, the amount from 0.01 to 1000 US dollars.");
  }
  if (data.key === undefined) {
    accounts.topUpAll(data.amount);
    return Response.json({ tier: "paid" });
  }
  const account = accounts.find(data.key);
  if (account === null) throw new RangeError("The emulator does not accept this key.");
  topUpAccount(account, data.amount);
  return Response.json({ tier: account.tier, balance: toDollarString(account.balance) });
}
