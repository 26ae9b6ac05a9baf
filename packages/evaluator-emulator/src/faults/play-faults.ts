import type { MiddlewareHandler } from "hono";
import type { Call, CallEnvironment, Delivery } from "../call.ts";
import { isSilentFault, isTrapFault, type SilentFault } from "./fault.ts";
import type { FaultBook, PickedFaults } from "./fault-book.ts";
import { htmlPage, malformJson, spoilAnswers, statusResponse } from "./spoil-response.ts";

/** Waits; rejects when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** A fault that changes what a caller gets. */
type BreakingFault = NonNullable<PickedFaults["fault"]>;

/** Returns middleware that plays the book's faults on calls. */
export function playFaults(book: FaultBook, sleep: Sleep): MiddlewareHandler<CallEnvironment> {
  return async (call, next) => {
    const { latencyMs, fault } = await book.pick(call);
    if (latencyMs > 0) await sleep(latencyMs, call.req.raw.signal);
    if (fault === null) return await next();
    await playFault(fault, call, next);
  };
}

/**
 * Plays a fault on a call; where a response is spoilt on its way, the call was answered and
 * charged.
 */
async function playFault(
  fault: BreakingFault,
  call: Call,
  next: () => Promise<void>,
): Promise<void> {
  if (isSilentFault(fault)) {
    call.res = new Response(null);
    return setDelivery(call, { ending: fault.kind, hasResponse: false });
  }
  call.res = await responseTo(fault, call, next);
  mark(call.res, fault); // after hono has copied the headers that were there before
  if (fault.kind === "reset-body") setDelivery(call, { ending: "reset", hasResponse: true });
  if (fault.kind === "cut-body") setDelivery(call, { ending: "cut", hasResponse: true });
}

async function responseTo(
  fault: Exclude<BreakingFault, SilentFault>,
  call: Call,
  next: () => Promise<void>,
): Promise<Response> {
  if (fault.kind === "status") return statusResponse(fault, call.req.path);
  if (fault.kind === "html") return htmlPage(fault.status ?? 502);
  if (isTrapFault(fault)) call.set("trap", fault.kind);
  await next();
  if (isTrapFault(fault)) return call.res;
  if (fault.kind === "reset-body" || fault.kind === "cut-body") return call.res;
  if (fault.kind === "malformed-json") return await malformJson(call.res);
  return await spoilAnswers(call.res, fault.kind);
}

function setDelivery({ env }: Call, delivery: Delivery): void {
  Object.assign(env.delivery, delivery);
}

/** Notes in the emulator's own header that this was asked for. */
function mark({ headers }: Response, { kind }: BreakingFault): void {
  const basis = headers.get("x-evaluator-emulator");
  headers.set("x-evaluator-emulator", basis === null ? `fault=${kind}` : `${basis}; fault=${kind}`);
}
