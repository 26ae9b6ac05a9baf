import * as z from "zod/mini";
import {
  answerBy,
  type Call,
  callKey,
  type EmulatorContext,
  readJson,
  type Routes,
  withErrors,
} from "./call.ts";
import { toDollarString } from "./catalog.ts";
import type { createFaultBook } from "./faults/fault-book.ts";
import { checkFaults } from "./faults/fault.ts";
import { RequestError } from "./request-error.ts";

type Accounts = EmulatorContext["accounts"];

/** Makes an empty log of the latest requests, oldest first: no key, body, query, or header but the model. */
export function createRequestLog(accounts: Accounts, clock: () => number, capacity = 1000) {
  let loggedEntries: { readonly number: number }[] = [];
  let requestCount = 0;
  const play = async (emulatedCall: Call, next: () => Promise<Response>): Promise<Response> => {
    const loggedEntry = {
      number: (requestCount += 1),
      method: emulatedCall.request.method,
      path: emulatedCall.path,
      model: emulatedCall.header("ai-model-id") ?? emulatedCall.header("ai-language-model-id"),
      account: accounts.find(callKey(emulatedCall))?.number ?? null,
      /** Null while unanswered, and for a call without a response. */
      status: null as number | null,
      /** The emulator's own header, such as `basis=lexical`. */
      note: null as string | null,
      /** How the response ended on the wire; null while unanswered. */
      ending: null as string | null,
      startedAt: new Date(clock()).toISOString(),
    };
    loggedEntries.push(loggedEntry);
    if (loggedEntries.length > 2 * capacity) loggedEntries = loggedEntries.slice(-capacity);
    const response = await next();
    const { ending, hasResponse } = emulatedCall.delivery;
    loggedEntry.status = hasResponse ? response.status : null;
    loggedEntry.note = response.headers.get("x-evaluator-emulator");
    loggedEntry.ending = ending;
    return response;
  };
  return {
    /** Logs a call before it is answered, and completes its entry after. */
    play,
    list: () => loggedEntries.slice(-capacity),
    reset() {
      loggedEntries = [];
      requestCount = 0;
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
  const respondFaults = () => Response.json({ faults: faults.list() });
  const routes: Routes = {
    "POST /_emulator/top-up": (emulatedCall) => topUp(emulatedCall, accounts),
    "POST /_emulator/reset": () => {
      reset();
      return Response.json({});
    },
    "GET /_emulator/requests": () => Response.json({ requests: requests.list() }),
    "GET /_emulator/faults": respondFaults,
    "POST /_emulator/faults": async (emulatedCall) => {
      faults.add(parseFaults(await readJson(emulatedCall)));
      return respondFaults();
    },
    "DELETE /_emulator/faults": () => {
      faults.clear();
      return respondFaults();
    },
  };
  return withErrors(async (emulatedCall) => {
    if (!emulatedCall.path.startsWith("/_emulator/")) return null;
    const origin = emulatedCall.header("origin");
    if (origin !== null && URL.parse(origin)?.host !== emulatedCall.header("host")) {
      return errorResponse("Pages of other origins may not control the emulator.", 403);
    }
    const routeResponse = await answerBy(routes, emulatedCall);
    return routeResponse ?? errorResponse("The emulator has no such address.", 404);
  }, errorResponse);
}

function errorResponse(message: string, statusCode: number): Response {
  return Response.json(
    { error: { message, type: "invalid_request_error" } },
    { status: statusCode },
  );
}

function parseFaults(requestBody: unknown) {
  try {
    return checkFaults(Array.isArray(requestBody) ? requestBody : [requestBody]);
  } catch (error) {
    throw new RequestError((error as RangeError).message);
  }
}

const topUpSchema = z.strictObject({
  key: z.optional(z.string().check(z.minLength(1))),
  amount: z.number().check(z.minimum(0.01), z.maximum(1000)),
});

/** Adds US dollars to the account of a key or to every account; either is then paid (contract section 3). */
async function topUp(emulatedCall: Call, accounts: Accounts): Promise<Response> {
  const { data } = topUpSchema.safeParse(await readJson(emulatedCall));
  if (data === undefined) {
    throw new RequestError("Expected { key?, amount }, the amount from 0.01 to 1000 US dollars.");
  }
  if (data.key === undefined) {
    accounts.topUpAll(data.amount);
    return Response.json({ tier: "paid" });
  }
  const callerAccount = accounts.find(data.key);
  if (callerAccount === null) throw new RequestError("The emulator does not accept this key.");
  callerAccount.topUp(data.amount);
  return Response.json({
    tier: callerAccount.tier,
    balance: toDollarString(callerAccount.balance),
  });
}
